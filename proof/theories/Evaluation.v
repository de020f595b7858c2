(** The value of an expression: [memfence/program/expressions.py].

    C's meaning on integers without a width; arithmetic beyond 128 bits, division by zero, shifts that are too far and
    indices out of bounds have no value. Only what is needed is evaluated. *)

From Coq Require Import ZArith List Bool.
From Memfence Require Import Program State.
Import ListNotations.
Local Open Scope Z_scope.

Definition truth (b : bool) : Z := if b then 1 else 0.

(** - 2^127, and 2^127. *)
Definition least : Z := -170141183460469231731687303715884105728.
Definition too_great : Z := 170141183460469231731687303715884105728.

(** A shift by as many bits has no value. *)
Definition too_far : Z := 128.

Definition within_128_bits (value : Z) : option Z :=
  if (least <=? value) && (value <? too_great) then Some value else None.

Definition apply_unary (operator : unary_operator) (value : Z) : option Z :=
  match operator with
  | Negative => within_128_bits (- value)
  | Not => Some (truth (value =? 0))
  | Complement => Some (Z.lnot value)
  end.

Definition apply_binary (operator : binary_operator) (left right : Z) : option Z :=
  match operator with
  | Plus => within_128_bits (left + right)
  | Minus => within_128_bits (left - right)
  | Times => within_128_bits (left * right)
  | Divided => if right =? 0 then None else within_128_bits (Z.quot left right)
  | Modulo => if right =? 0 then None else Some (Z.rem left right)
  | ShiftLeft => if (0 <=? right) && (right <? too_far) then within_128_bits (Z.shiftl left right) else None
  | ShiftRight => if (0 <=? right) && (right <? too_far) then Some (Z.shiftr left right) else None
  | BitAnd => Some (Z.land left right)
  | BitOr => Some (Z.lor left right)
  | BitXor => Some (Z.lxor left right)
  | Equal => Some (truth (left =? right))
  | Different => Some (truth (negb (left =? right)))
  | Less => Some (truth (left <? right))
  | LessEqual => Some (truth (left <=? right))
  | Greater => Some (truth (right <? left))
  | GreaterEqual => Some (truth (right <=? left))
  | And => Some (truth (negb (left =? 0) && negb (right =? 0)))
  | Or => Some (truth (negb (left =? 0) || negb (right =? 0)))
  end.

(** The variable that an evaluated index chooses. *)
Definition element (base : nat) (size index : Z) : option nat :=
  if (0 <=? index) && (index <? size) then Some (base + Z.to_nat index)%nat else None.

(** The value of [e] for process [p] in state [s]. *)
Fixpoint evaluate (s : state) (p : nat) (e : expression) : option Z :=
  match e with
  | Const value => Some value
  | Register number => Some (nth number (registers_of s p) 0)
  | RegisterOf owner number => Some (nth number (registers_of s owner) 0)
  | Shared base size index =>
      match evaluate s p index with
      | Some value => option_map (fun variable => nth variable (memory s) 0) (element base size value)
      | None => None
      end
  | At owner places => Some (truth (existsb (Z.eqb (location_of s owner)) places))
  | BufferEmpty owner => Some (truth (nothing_pending s owner))
  | Unary operator operand =>
      match evaluate s p operand with Some value => apply_unary operator value | None => None end
  | Binary And first second =>
      match evaluate s p first with
      | Some 0 => Some 0
      | Some _ => option_map (fun value => truth (negb (value =? 0))) (evaluate s p second)
      | None => None
      end
  | Binary Or first second =>
      match evaluate s p first with
      | Some 0 => option_map (fun value => truth (negb (value =? 0))) (evaluate s p second)
      | Some _ => Some 1
      | None => None
      end
  | Binary operator first second =>
      match evaluate s p first with
      | Some a => match evaluate s p second with Some b => apply_binary operator a b | None => None end
      | None => None
      end
  | Conditional condition yes no =>
      match evaluate s p condition with
      | Some 0 => evaluate s p no
      | Some _ => evaluate s p yes
      | None => None
      end
  end.

(** Whether a predicate holds; one that cannot be evaluated does not. *)
Definition is_true (s : state) (e : expression) : bool :=
  match evaluate s 0 e with Some value => negb (value =? 0) | None => false end.

(** What a read-modify-write puts in the place of [old], before it is made to fit. *)
Definition modified (kind : modification) (old operand : Z) : option Z :=
  match kind with
  | Exchange | CompareExchange => Some operand
  | Add => within_128_bits (old + operand)
  | Sub => within_128_bits (old - operand)
  | AndBits => Some (Z.land old operand)
  | OrBits => Some (Z.lor old operand)
  | XorBits => Some (Z.lxor old operand)
  | NandBits => Some (Z.lnot (Z.land old operand))
  | Max => Some (Z.max old operand)
  | Min => Some (Z.min old operand)
  end.
