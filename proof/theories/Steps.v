(** What a step does, under any memory model: [memfence/models/steps.py]. Then: which states a run can reach. *)

From Coq Require Import ZArith List Bool.
From Memfence Require Import Program State Evaluation Models.
Import ListNotations.
Local Open Scope Z_scope.

(** ** One operation *)

Definition variable_at (s : state) (p : nat) (place : address) : result nat :=
  value <- evaluated (evaluate s p (index place));
  evaluated (element (base place) (size place) value).

Definition set_register (prog : program) (s : state) (p register : nat) (value : Z) : result state :=
  let declared := nth register (register_variables (nth p (processes prog) no_process)) no_register in
  fitting <- evaluated (fit (register_domain declared) value);
  Done (with_registers_of s p (set_at (registers_of s p) register fitting)).

Definition fit_variable (prog : program) (variable : nat) (value : Z) : result Z :=
  evaluated (fit (variable_domain (nth variable (variables prog) no_variable)) value).

(** Whether a condition that may be absent is there and false. *)
Definition is_switched_off (s : state) (p : nat) (when : option expression) : result bool :=
  match when with
  | None => Done false
  | Some condition => value <- evaluated (evaluate s p condition); Done (value =? 0)
  end.

Definition apply_load prog (s : state) (p register : nat) (place : address) (is_direct : bool) : result state :=
  variable <- variable_at s p place;
  match (if is_direct then None else load s p variable) with
  | Some own => set_register prog s p register own
  | None => possible_only_if (bus_is_free_for s p) (set_register prog s p register (nth variable (memory s) 0))
  end.

Definition apply_store prog m (s : state) (p : nat) (place : address) (value : expression) (direct is_locked : bool)
  : result state :=
  variable <- variable_at s p place;
  number <- evaluated (evaluate s p value);
  fitting <- fit_variable prog variable number;
  if direct && negb (bus_is_free_for s p) then Blocked
  else if is_locked || direct then Done (write s variable fitting)
  else store prog m s p variable fitting.

Definition is_separated (m : model) (order : memory_order) : bool :=
  match reading_of_store m order with SeparatedStore => true | _ => false end.

(** Write, then hand over the old value; operands are evaluated in the state before. *)
Definition modify prog (s : state) (p : nat) (register : option nat) (place : address) (kind : modification)
  (operand : expression) (expected : option expression) : result state :=
  variable <- variable_at s p place;
  possible_only_if (bus_is_free_for s p) (
    let old := nth variable (memory s) 0 in
    is_other <- match expected with
                | None => Done false
                | Some e => value <- evaluated (evaluate s p e); Done (negb (old =? value))
                end;
    after <- (if is_other : bool then Done s
              else value <- evaluated (evaluate s p operand);
                   new <- evaluated (modified kind old value);
                   fitting <- fit_variable prog variable new;
                   Done (write s variable fitting));
    match register with
    | None => Done after
    | Some number => set_register prog after p number old
    end).

Definition fence m (s : state) (p : nat) (kind : option fence_kind) : result state :=
  match kind with
  | Some Mfence => possible_only_if (nothing_pending s p) (Done s)
  | Some Sfence => separate m s p
  | None => Done s
  end.

(** The state after one operation of process [p]. A locked one works on memory directly. *)
Definition apply prog m (s : state) (p : nat) (is_locked : bool) (op : operation) : result state :=
  match op with
  | Load register place when =>
      off <- is_switched_off s p when;
      if off : bool then set_register prog s p register 0 else apply_load prog s p register place is_locked
  | Store place value direct order when =>
      off <- is_switched_off s p when;
      if off : bool then Done s
      else if negb direct && negb is_locked && is_separated m order then
        separated <- separate m s p;
        still_off <- is_switched_off separated p when;
        if still_off : bool then Done separated else apply_store prog m separated p place value direct is_locked
      else apply_store prog m s p place value direct is_locked
  | Rmw register place kind operand expected => modify prog s p register place kind operand expected
  | Assign register value => number <- evaluated (evaluate s p value); set_register prog s p register number
  | Assume condition =>
      value <- evaluated (evaluate s p condition);
      possible_only_if (negb (value =? 0)) (Done s)
  | Assert condition =>
      value <- evaluated (evaluate s p condition);
      if value =? 0 then Failed else Done s
  | Fence kind order =>
      fence m s p (match kind with Some hardware => Some hardware | None => reading_of_fence m order end)
  | Lock =>
      possible_only_if (match lock_owner s with None => true | Some _ => false end) (Done (with_lock_owner s (Some p)))
  | Unlock =>
      possible_only_if
        (match lock_owner s with Some owner => Nat.eqb owner p | None => false end && nothing_pending s p)
        (Done (with_lock_owner s None))
  end.

Fixpoint apply_all prog m (s : state) (p : nat) (is_locked : bool) (ops : list operation) : result state :=
  match ops with
  | [] => Done s
  | op :: rest => after <- apply prog m s p is_locked op; apply_all prog m after p is_locked rest
  end.

(** ** One step *)

Definition is_among (location : Z) (places : list Z) : bool := existsb (Z.eqb location) places.

Fixpoint committed_from (number : nat) (procs : list process) (at_ : list Z) : list nat :=
  match procs, at_ with
  | proc :: procs', location :: at_' =>
      if is_among location (committed proc) then number :: committed_from (S number) procs' at_'
      else committed_from (S number) procs' at_'
  | _, _ => []
  end.

(** While some process stands at a committed location, only such processes move. *)
Definition may_move (prog : program) (s : state) (p : nat) : bool :=
  match committed_from 0 (processes prog) (locations s) with
  | [] => true
  | movers => existsb (Nat.eqb p) movers
  end.

(** A locked transition needs its process's buffers empty, and the bus. *)
Definition may_start (prog : program) (m : model) (s : state) (p : nat) (t : transition) : bool :=
  may_move prog s p && (if is_locked m t then nothing_pending s p && bus_is_free_for s p else true).

(** Control moves on, and transient registers are cleared. *)
Definition arrive (prog : program) (s : state) (p : nat) (t : transition) : state :=
  let declared := register_variables (nth p (processes prog) no_process) in
  let kept := map (fun '(r, value) => if transient r then 0 else value) (combine declared (registers_of s p)) in
  with_registers_of (with_location_of s p (target t)) p kept.

Definition transition_of (prog : program) (p number : nat) : option transition :=
  match nth_error (processes prog) p with Some proc => nth_error (transitions proc) number | None => None end.

Definition run prog m (s : state) (p : nat) (t : transition) : result state :=
  possible_only_if (may_start prog m s p t) (
    after <- apply_all prog m s p (is_locked m t) (operations t);
    Done (arrive prog after p t)).

Fixpoint evaluate_all (s : state) (p : nat) (es : list expression) : result (list Z) :=
  match es with
  | [] => Done []
  | e :: rest => value <- evaluated (evaluate s p e); others <- evaluate_all s p rest; Done (value :: others)
  end.

Fixpoint set_registers prog (s : state) (p : nat) (numbers : list nat) (vs : list Z) : result state :=
  match numbers, vs with
  | number :: numbers', value :: vs' =>
      after <- set_register prog s p number value; set_registers prog after p numbers' vs'
  | _, _ => Done s
  end.

(** The guards of both sides, sender first; then the values pass; then the receiver's other operations, then the
    sender's. *)
Definition meet prog m (s : state) (p : nat) (t : transition) (a : sync) (q : nat) (u : transition) (b : sync)
  : result state :=
  possible_only_if (may_start prog m s p t && may_start prog m s q u) (
    s1 <- apply_all prog m s p (is_locked m t) (firstn (guards a) (operations t));
    s2 <- apply_all prog m s1 q (is_locked m u) (firstn (guards b) (operations u));
    passed <- evaluate_all s2 p (values a);
    s3 <- set_registers prog s2 q (targets b) passed;
    s4 <- apply_all prog m s3 q (is_locked m u) (skipn (guards b) (operations u));
    s5 <- apply_all prog m s4 p (is_locked m t) (skipn (guards a) (operations t));
    Done (arrive prog (arrive prog s5 p t) q u)).

(** Whether two sides of a rendezvous belong together. *)
Definition match_up (p q : nat) (a b : sync) : bool :=
  Nat.eqb (channel a) (channel b) && sends a && negb (sends b) && negb (Nat.eqb p q).

(** The state after a step; [Failed]: the program fails in it; [Blocked]: it is not possible. *)
Definition take (prog : program) (m : model) (s : state) (l : step) : result state :=
  match l with
  | Commit p queue => possible_only_if (bus_is_free_for s p) (commit s p queue)
  | DropSeparator p => possible_only_if (bus_is_free_for s p) (drop_separator m s p)
  | Run p number =>
      match transition_of prog p number with
      | Some t =>
          match meeting t with
          | None => possible_only_if (source t =? location_of s p) (run prog m s p t)
          | Some _ => Blocked
          end
      | None => Blocked
      end
  | Meet p number q other =>
      match transition_of prog p number, transition_of prog q other with
      | Some t, Some u =>
          match meeting t, meeting u with
          | Some a, Some b =>
              possible_only_if
                (match_up p q a b && (source t =? location_of s p) && (source u =? location_of s q))
                (meet prog m s p t a q u b)
          | _, _ => Blocked
          end
      | _, _ => Blocked
      end
  end.

(** ** Runs *)

Definition first_values (r : register_variable) : list Z := if transient r then [0] else register_init r.

(** Any choice of first values is an initial state; every process stands at its first location, nothing is pending. *)
Definition is_start (prog : program) (m : model) (s : state) : Prop :=
  locations s = map initial (processes prog)
  /\ Forall2 (fun own proc => Forall2 (fun value r => In value (first_values r)) own (register_variables proc))
       (registers s) (processes prog)
  /\ Forall2 (fun value v => In value (variable_init v)) (memory s) (variables prog)
  /\ buffers s = empty_buffers prog m
  /\ lock_owner s = None.

Inductive reachable (prog : program) (m : model) : state -> Prop :=
  | at_start s : is_start prog m s -> reachable prog m s
  | by_step s l after : reachable prog m s -> take prog m s l = Done after -> reachable prog m after.
