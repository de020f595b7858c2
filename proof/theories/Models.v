(** The memory models: [memfence/models/sc.py], [tso.py], [pso.py] and [bounded.py].

    A model says where stores wait: nowhere (SC), in one queue for each process (TSO), or in one for each process and
    variable (PSO); and how many may wait. Everything else is the same for all of them. *)

From Coq Require Import ZArith List Bool.
From Memfence Require Import Program State.
Import ListNotations.
Local Open Scope Z_scope.

Inductive buffering := Nowhere | PerProcess | PerVariable.

(** No bound; at most so many entries in each queue; or at most so many pending stores to each variable. *)
Inductive limit := Unbounded | Entries (most : Z) | StoresToEach (most : Z).

Record model := Model { kind : buffering; bound : limit }.

Definition sc := Model Nowhere Unbounded.
Definition tso := Model PerProcess Unbounded.
Definition pso := Model PerVariable Unbounded.
Definition bounded (m : model) (k : Z) := Model (kind m) (Entries k).

Definition empty_buffers (prog : program) (m : model) : list (list buffer) :=
  match kind m with
  | Nowhere => map (fun _ => []) (processes prog)
  | PerProcess => map (fun _ => [[]]) (processes prog)
  | PerVariable => map (fun proc => map (fun _ => []) (stored proc)) (processes prog)
  end.

(** ** How memory orders are read *)

Inductive store_reading := PlainStore | SeparatedStore | LockedStore.

Definition reading_of_store (m : model) (order : memory_order) : store_reading :=
  match kind m with
  | Nowhere => PlainStore
  | PerProcess => match order with SeqCst => LockedStore | _ => PlainStore end
  | PerVariable =>
      match order with SeqCst => LockedStore | _ => if releases order then SeparatedStore else PlainStore end
  end.

Definition reading_of_fence (m : model) (order : memory_order) : option fence_kind :=
  match order with
  | SeqCst => Some Mfence
  | _ => match kind m with PerVariable => if releases order then Some Sfence else None | _ => None end
  end.

(** Whether the transition needs its process's buffers empty and works on memory directly. *)
Definition is_locked (m : model) (t : transition) : bool :=
  locked t
  || existsb
       (fun op =>
          match op with
          | Rmw _ _ _ _ _ => true
          | Store _ _ _ order _ => match reading_of_store m order with LockedStore => true | _ => false end
          | _ => false
          end)
       (operations t).

(** ** Loads *)

Definition is_to (variable : nat) (e : entry) : bool :=
  match e with Pending v _ => Nat.eqb v variable | Separator => false end.

Definition value_in (e : entry) : option Z := match e with Pending _ value => Some value | Separator => None end.

(** The newest pending store to the variable in a queue, or else [older]. *)
Definition newest_in (variable : nat) (older : option Z) (queue : buffer) : option Z :=
  fold_left (fun found e => if is_to variable e then value_in e else found) queue older.

(** The newest own pending store to the variable wins over memory. *)
Definition load (s : state) (p variable : nat) : option Z :=
  fold_left (newest_in variable) (buffers_of s p) None.

(** ** Stores *)

Definition is_at_most {A} (k : Z) (list : list A) : bool := Z.of_nat (length list) <=? k.

Definition fits (m : model) (own : list buffer) : bool :=
  match bound m with
  | Unbounded => true
  | Entries k => forallb (is_at_most k) own
  | StoresToEach k =>
      let queue := concat own in
      forallb (fun e => match e with Pending v _ => is_at_most k (filter (is_to v) queue) | Separator => true end) queue
  end.

Definition if_it_fits (m : model) (s : state) (p : nat) : result state :=
  possible_only_if (fits m (buffers_of s p)) (Done s).

Fixpoint position_of (variable : nat) (variables : list nat) : nat :=
  match variables with
  | [] => 0
  | first :: rest => if Nat.eqb first variable then 0 else S (position_of variable rest)
  end.

(** Under SC a store reaches memory at once; else it waits at the end of its queue. *)
Definition store (prog : program) (m : model) (s : state) (p variable : nat) (value : Z) : result state :=
  let own := buffers_of s p in
  let waiting number := with_buffers_of s p (set_at own number (nth number own [] ++ [Pending variable value])) in
  match kind m with
  | Nowhere => possible_only_if (bus_is_free_for s p) (Done (write s variable value))
  | PerProcess => if_it_fits m (waiting 0%nat) p
  | PerVariable => if_it_fits m (waiting (position_of variable (stored (nth p (processes prog) no_process)))) p
  end.

(** The state after an [sfence]: a separator in every queue under PSO, nothing to do elsewhere. *)
Definition separate (m : model) (s : state) (p : nat) : result state :=
  match kind m with
  | PerVariable =>
      if_it_fits m (with_buffers_of s p (map (fun queue => queue ++ [Separator]) (buffers_of s p))) p
  | _ => if_it_fits m s p
  end.

(** ** What the memory system does by itself *)

(** Commit: the oldest entry of a queue reaches memory. *)
Definition commit (s : state) (p queue : nat) : result state :=
  let own := buffers_of s p in
  match nth queue own [] with
  | Pending variable value :: rest => Done (write (with_buffers_of s p (set_at own queue rest)) variable value)
  | _ => Blocked
  end.

Definition starts_with_separator (queue : buffer) : bool :=
  match queue with Separator :: _ => true | _ => false end.

(** Separators leave once they head all queues of the process. *)
Definition drop_separator (m : model) (s : state) (p : nat) : result state :=
  let own := buffers_of s p in
  match kind m with
  | PerVariable =>
      possible_only_if
        (negb (is_empty own) && forallb starts_with_separator own)
        (Done (with_buffers_of s p (map (@tl entry) own)))
  | _ => Blocked
  end.
