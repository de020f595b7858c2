(* Between the numbers of Coq, those of OCaml, and decimal text. *)

open Checker

let rec nat_of_int n = if n <= 0 then O else S (nat_of_int (n - 1))

let rec int_of_nat = function O -> 0 | S n -> 1 + int_of_nat n

let rec positive_of_int n =
  if n = 1 then XH else if n land 1 = 0 then XO (positive_of_int (n lsr 1)) else XI (positive_of_int (n lsr 1))

let z_of_int n = if n = 0 then Z0 else if n > 0 then Zpos (positive_of_int n) else Zneg (positive_of_int (-n))

let ten = z_of_int 10

(* Of any length. *)
let z_of_text text =
  let negative = text.[0] = '-' in
  let digits = if negative then String.sub text 1 (String.length text - 1) else text in
  if digits = "" then failwith "a number is missing";
  let add value digit =
    if digit < '0' || digit > '9' then failwith ("not a number: " ^ text);
    Z.add (Z.mul value ten) (z_of_int (Char.code digit - 48))
  in
  let value = Seq.fold_left add Z0 (String.to_seq digits) in
  if negative then Z.opp value else value

let rec bits = function XH -> 1 | XO p | XI p -> 1 + bits p

let rec int_of_positive = function XH -> 1 | XO p -> 2 * int_of_positive p | XI p -> 2 * int_of_positive p + 1

let rec digits value =
  match Z.div_eucl value ten with
  | Z0, last -> string_of_int (small last)
  | rest, last -> digits rest ^ string_of_int (small last)

and small = function Z0 -> 0 | Zpos p -> int_of_positive p | Zneg p -> - int_of_positive p

let text_of_z = function
  | Z0 -> "0"
  | Zpos p -> if bits p < 60 then string_of_int (int_of_positive p) else digits (Zpos p)
  | Zneg p -> if bits p < 60 then string_of_int (- int_of_positive p) else "-" ^ digits (Zpos p)
