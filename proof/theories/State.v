(** A state of a running program, and the steps that lead from one to the next: [memfence/models/state.py]. *)

From Coq Require Import ZArith List Bool.
From Memfence Require Import Program.
Import ListNotations.
Local Open Scope Z_scope.

(** A pending store, or what a PSO [sfence] leaves in each buffer of its process. *)
Inductive entry := Pending (variable : nat) (value : Z) | Separator.

(** Oldest entry first. *)
Definition buffer := list entry.

(** [buffers]: the queues of each process; none under SC, one under TSO, one for each stored variable under PSO. *)
Record state := State {
  locations : list Z;
  registers : list (list Z);
  memory : list Z;
  buffers : list (list buffer);
  lock_owner : option nat;
}.

(** [Run]: a process takes one of its transitions. [Meet]: two take matching ones together, the sender first.
    [Commit]: the oldest entry of a buffer reaches memory. [DropSeparator]: it leaves all buffers of the process. *)
Inductive step :=
  | Run (process number : nat)
  | Meet (sender number receiver other_number : nat)
  | Commit (process queue : nat)
  | DropSeparator (process : nat).

(** What an operation or a step leads to. [Blocked]: it cannot happen now. [Failed]: an assertion is violated, or
    something cannot be evaluated. *)
Inductive result (A : Type) := Done (value : A) | Blocked | Failed.
Arguments Done {A} value.
Arguments Blocked {A}.
Arguments Failed {A}.

Definition bind {A B} (first : result A) (next : A -> result B) : result B :=
  match first with Done value => next value | Blocked => Blocked | Failed => Failed end.

Notation "x <- first ; next" := (bind first (fun x => next)) (at level 100, first at next level, right associativity).

(** What cannot be evaluated fails. *)
Definition evaluated {A} (value : option A) : result A :=
  match value with Some found => Done found | None => Failed end.

Definition possible_only_if (condition : bool) {A} (then_ : result A) : result A :=
  if condition then then_ else Blocked.

(** [values] with one of them replaced. *)
Fixpoint set_at {A} (values : list A) (position : nat) (value : A) : list A :=
  match values, position with
  | [], _ => []
  | _ :: rest, O => value :: rest
  | first :: rest, S before => first :: set_at rest before value
  end.

Definition is_empty {A} (values : list A) : bool := match values with [] => true | _ => false end.

Definition location_of (s : state) (p : nat) : Z := nth p (locations s) 0.
Definition registers_of (s : state) (p : nat) : list Z := nth p (registers s) [].
Definition buffers_of (s : state) (p : nat) : list buffer := nth p (buffers s) [].

Definition nothing_pending (s : state) (p : nat) : bool := forallb is_empty (buffers_of s p).

(** Whether nobody else holds the bus. *)
Definition bus_is_free_for (s : state) (p : nat) : bool :=
  match lock_owner s with None => true | Some owner => Nat.eqb owner p end.

Definition with_memory (s : state) (m : list Z) : state :=
  State (locations s) (registers s) m (buffers s) (lock_owner s).
Definition with_buffers_of (s : state) (p : nat) (own : list buffer) : state :=
  State (locations s) (registers s) (memory s) (set_at (buffers s) p own) (lock_owner s).
Definition with_lock_owner (s : state) (owner : option nat) : state :=
  State (locations s) (registers s) (memory s) (buffers s) owner.
Definition with_registers_of (s : state) (p : nat) (own : list Z) : state :=
  State (locations s) (set_at (registers s) p own) (memory s) (buffers s) (lock_owner s).
Definition with_location_of (s : state) (p : nat) (location : Z) : state :=
  State (set_at (locations s) p location) (registers s) (memory s) (buffers s) (lock_owner s).

Definition write (s : state) (variable : nat) (value : Z) : state := with_memory s (set_at (memory s) variable value).
