(** What a program is: the definitions of [memfence/program/ir.py] and [memfence/program/expressions.py].

    Variables, processes, registers and transitions are known by their position. Names, places in the source and
    properties are left out: no run depends on them. *)

From Coq Require Import ZArith List Bool.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Expressions *)

Inductive unary_operator := Negative | Not | Complement.

Inductive binary_operator :=
  | Plus | Minus | Times | Divided | Modulo | ShiftLeft | ShiftRight | BitAnd | BitOr | BitXor
  | Equal | Different | Less | LessEqual | Greater | GreaterEqual | And | Or.

(** [Register]: of the process that evaluates. [Shared base size index]: the value in memory, not in any buffer.
    [At]: whether the process stands at one of the locations. [BufferEmpty]: whether it has no pending store. *)
Inductive expression :=
  | Const (value : Z)
  | Register (number : nat)
  | RegisterOf (process number : nat)
  | Shared (base : nat) (size : Z) (index : expression)
  | At (process : nat) (locations : list Z)
  | BufferEmpty (process : nat)
  | Unary (operator : unary_operator) (operand : expression)
  | Binary (operator : binary_operator) (left right : expression)
  | Conditional (condition yes no : expression).

(** [size] consecutive variables from number [base] on; [index] chooses one of them. *)
Record address := Address { base : nat; size : Z; index : expression }.

(** The integers from [low] to [high]; a value outside wraps around, or is an error. *)
Record domain := Domain { low : Z; high : Z; wraps : bool }.

Definition fit (d : domain) (value : Z) : option Z :=
  if (low d <=? value) && (value <=? high d) then Some value
  else if wraps d then Some (low d + (value - low d) mod (high d - low d + 1))
  else None.

(** ** Steps *)

Inductive memory_order := Plain | Relaxed | Consume | Acquire | Release | AcquireRelease | SeqCst.

Definition releases (order : memory_order) : bool :=
  match order with Release | AcquireRelease | SeqCst => true | _ => false end.

Inductive fence_kind := Mfence | Sfence.

Inductive modification := Exchange | CompareExchange | Add | Sub | AndBits | OrBits | XorBits | NandBits | Max | Min.

(** [Load]: where [when] is given and false, the register becomes 0 and nothing is accessed. [Store]: by way of the
    buffer, unless [direct]. [Rmw]: a locked read-modify-write; [expected] is there for a compare-exchange.
    [Fence None order]: C11's [thread_fence], which each memory model reads in its way. *)
Inductive operation :=
  | Load (register : nat) (place : address) (when : option expression)
  | Store (place : address) (value : expression) (direct : bool) (order : memory_order) (when : option expression)
  | Rmw (register : option nat) (place : address) (kind : modification) (operand : expression)
        (expected : option expression)
  | Assign (register : nat) (value : expression)
  | Assume (condition : expression)
  | Assert (condition : expression)
  | Fence (kind : option fence_kind) (order : memory_order)
  | Lock
  | Unlock.

(** One side of a rendezvous: values of the sender reach registers of the receiver in one joint step. The first
    [guards] operations of each side are evaluated before that. *)
Record sync := Sync { channel : nat; sends : bool; values : list expression; targets : list nat; guards : nat }.

(** One atomic step of its process: all operations in order, or nothing. *)
Record transition := Transition {
  source : Z;
  target : Z;
  locked : bool;
  meeting : option sync;
  operations : list operation;
}.

(** A [transient] register is 0 between transitions. *)
Record register_variable := RegisterVariable { register_domain : domain; register_init : list Z; transient : bool }.

Record shared_variable := SharedVariable { variable_domain : domain; variable_init : list Z }.

(** [committed]: while some process stands at such a location, only such processes move. [may_end]: a process may wait
    there for ever. [stored]: the variables that it may store to, in ascending order; see [process_of]. *)
Record process := Process {
  register_variables : list register_variable;
  initial : Z;
  committed : list Z;
  may_end : list Z;
  transitions : list transition;
  stored : list nat;
}.

Record program := Program { variables : list shared_variable; processes : list process }.

(** ** The variables that a process may store to *)

Fixpoint insert_variable (variable : nat) (sorted : list nat) : list nat :=
  match sorted with
  | [] => [variable]
  | first :: rest =>
      match Nat.compare variable first with
      | Lt => variable :: sorted
      | Eq => sorted
      | Gt => first :: insert_variable variable rest
      end
  end.

(** Every variable that an address can mean: one, where the index is a constant within bounds. *)
Definition variables_at (place : address) : list nat :=
  match index place with
  | Const value =>
      if (0 <=? value) && (value <? size place) then [(base place + Z.to_nat value)%nat]
      else seq (base place) (Z.to_nat (size place))
  | _ => seq (base place) (Z.to_nat (size place))
  end.

Definition written_by (op : operation) : list nat :=
  match op with Store place _ _ _ _ | Rmw _ place _ _ _ => variables_at place | _ => [] end.

Definition stored_by (steps : list transition) : list nat :=
  fold_right insert_variable [] (flat_map (fun t => flat_map written_by (operations t)) steps).

Definition process_of registers initial committed may_end transitions : process :=
  Process registers initial committed may_end transitions (stored_by transitions).

(** What stands at a position that does not exist; no program that memfence reads has one. *)
Definition no_domain := Domain 0 0 false.
Definition no_register := RegisterVariable no_domain [] false.
Definition no_variable := SharedVariable no_domain [].
Definition no_process := Process [] 0 [] [] [] [].
