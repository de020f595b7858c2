(** Infinite runs, and which of them are fair: [memfence/models/fairness.py]. *)

From Coq Require Import ZArith List Bool.
From Memfence Require Import Program State Evaluation Models Steps Successors.
Import ListNotations.

(** ** How an infinite run goes on *)

(** A step that fails ends a run. Where no other step is possible, the program stands still for ever: [None]. *)
Inductive goes_on (prog : program) (m : model) (s : state) : option step -> state -> Prop :=
  | moves l after : take prog m s l = Done after -> goes_on prog m s (Some l) after
  | stands_still : (forall l after, take prog m s l <> Done after) -> goes_on prog m s None s.

(** A state for each moment, and the step that leads to the next one. *)
Record infinite_run (prog : program) (m : model) (states : nat -> state) (steps : nat -> option step) : Prop := {
  begins : is_start prog m (states 0);
  continues : forall i, goes_on prog m (states i) (steps i) (states (S i));
}.

(** The same as a list. *)
Definition done_steps (found : list (step * result state)) : list (step * state) :=
  flat_map (fun '(l, r) => match r with Done after => [(l, after)] | _ => [] end) found.

Definition continuations (s : state) (done : list (step * state)) : list (option step * state) :=
  match done with [] => [(None, s)] | _ => map (fun '(l, after) => (Some l, after)) done end.

Lemma done_steps_exact : forall prog m s l after,
  In (l, after) (done_steps (successors prog m s)) <-> take prog m s l = Done after.
Proof.
  intros prog m s l after. unfold done_steps. rewrite in_flat_map. split.
  - intros [[l' r] [Hin H]]. apply successors_exact in Hin as [Ht _]. destruct r; simpl in H; [|contradiction ..].
    destruct H as [H|[]]. injection H as -> ->. exact Ht.
  - intros H. exists (l, Done after). split; [|left; reflexivity]. apply successors_exact.
    split; [exact H | discriminate].
Qed.

Lemma continuations_complete : forall prog m s l after,
  goes_on prog m s l after -> In (l, after) (continuations s (done_steps (successors prog m s))).
Proof.
  intros prog m s l after H. unfold continuations. destruct H as [l after H | H].
  - apply done_steps_exact in H. destruct (done_steps (successors prog m s)) as [|first rest]; [contradiction|].
    exact (in_map (fun '(l, after) => (Some l, after)) _ _ H).
  - destruct (done_steps (successors prog m s)) as [|[l after] rest] eqn:E; [left; reflexivity|].
    exfalso. apply (H l after), done_steps_exact. rewrite E. left. reflexivity.
Qed.

(** ** What recurs in a fair run *)

(** [BufferDrains]: an entry leaves the buffer, or none is pending. [ProcessRuns]: the process moves, or cannot. *)
Inductive fairness := BufferDrains (process queue : nat) | ProcessRuns (process : nat).

Definition moves_process (p : nat) (l : step) : bool :=
  match l with
  | Run q _ => Nat.eqb p q
  | Meet q _ q' _ => Nat.eqb p q || Nat.eqb p q'
  | Commit _ _ | DropSeparator _ => false
  end.

(** Whether step [l], taken in [s] where the steps in [done] were possible, meets the condition. *)
Definition is_met (s : state) (done : list (step * state)) (l : option step) (condition : fairness) : bool :=
  match condition with
  | BufferDrains p queue =>
      match l with
      | Some (Commit q other) => Nat.eqb p q && Nat.eqb queue other
      | Some (DropSeparator q) => Nat.eqb p q
      | _ => false
      end
      || is_empty (nth queue (buffers_of s p) [])
  | ProcessRuns p =>
      match l with Some taken => moves_process p taken | None => false end
      || negb (existsb (fun '(other, _) => moves_process p other) done)
  end.

(** Every pending store eventually reaches memory: one condition for each buffer that is ever used. *)
Fixpoint drains_from (p : nat) (procs : list process) (empty : list (list buffer)) : list fairness :=
  match procs, empty with
  | proc :: procs', own :: empty' =>
      (if is_empty (stored proc) then [] else map (BufferDrains p) (seq 0 (length own)))
      ++ drains_from (S p) procs' empty'
  | _, _ => []
  end.

(** Memory is always fair; processes, that is, a process that can always move eventually does, if [fair] says so. *)
Definition conditions (prog : program) (m : model) (fair : bool) : list fairness :=
  drains_from 0 (processes prog) (empty_buffers prog m)
  ++ (if fair then map ProcessRuns (seq 0 (length (processes prog))) else []).

Definition again_and_again (P : nat -> Prop) : Prop := forall i, exists j, i <= j /\ P j.

Definition is_fair (prog : program) (m : model) (fair : bool) (states : nat -> state) (steps : nat -> option step) :=
  forall condition, In condition (conditions prog m fair) ->
  again_and_again (fun i => is_met (states i) (done_steps (successors prog m (states i))) (steps i) condition = true).
