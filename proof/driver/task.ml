(* What is asked: a list of lists in parentheses. You have to believe this file. *)

open Checker
open Lists
open Reading

(* The automaton of what refutes a property, whether processes are fair, and the mark of each rank; for a formula, the
   formula, and what its nodes and marks are about. *)
type ranks = { automaton : automaton; fair : bool; rank_marks : int array; tableau : (formula * labelling) option }

type what = Steps | Invariant of question | Ranks of ranks

type t = { model : model; capacity : int; what : what }

let buffering = function
  | Word "nowhere" -> Nowhere
  | Word "process" -> PerProcess
  | Word "variable" -> PerVariable
  | part -> unreadable part

let limit = function
  | Word "_" -> Unbounded
  | List [ Word "entries"; most ] -> Entries (z most)
  | List [ Word "each"; most ] -> StoresToEach (z most)
  | part -> unreadable part

let flag = function Word "yes" -> true | Word "no" -> false | part -> unreadable part

let final_claim part =
  match part with
  | List [ condition; wanted; observed; outcomes ] ->
      { condition = expression condition; wanted = flag wanted; observed = list_of expression observed;
        outcomes = list_of (list_of z) outcomes }
  | _ -> unreadable part

let move part =
  match part with
  | List [ target; all_of; none_of; visited ] ->
      { next_node = nat target; all_of = list_of nat all_of; none_of = list_of nat none_of;
        visited = list_of nat visited }
  | _ -> unreadable part

let rec formula part =
  match part with
  | Word "true" -> Truth true
  | Word "false" -> Truth false
  | List [ Word "atom"; number ] -> Atom (nat number)
  | List [ Word "not"; operand ] -> Negation (formula operand)
  | List [ Word "next"; operand ] -> Next (formula operand)
  | List [ Word "and"; first; second ] -> Both (formula first, formula second)
  | List [ Word "or"; first; second ] -> Either (formula first, formula second)
  | List [ Word "until"; first; second ] -> Until (formula first, formula second)
  | List [ Word "release"; first; second ] -> Unless (formula first, formula second)
  | _ -> unreadable part

let item part =
  match part with
  | List [ Word "refuted"; found ] -> (formula found, true)
  | found -> (formula found, false)

let tableau part =
  match part with
  | List [ found; nodes; marks ] ->
      (formula found, { items_of = list_of (list_of item) nodes; mark_items = list_of item marks })
  | _ -> unreadable part

let int = function Word text -> int_of_string text | part -> unreadable part

let what part =
  match part with
  | List [ Word "steps" ] -> Steps
  | List [ Word "invariant"; bad; deadlock; List finals ] ->
      Invariant { bad = optional expression bad; no_deadlock = flag deadlock; finals = List.map final_claim finals }
  | List [ Word "ranks"; first; marks; atoms; nodes; fair; rank_marks; labels ] ->
      let moves_of = list_of (list_of move) nodes in
      let automaton = { moves_of; first_node = nat first; marks = nat marks; atoms = list_of expression atoms } in
      let rank_marks = Array.of_list (list_of int rank_marks) in
      Ranks { automaton; fair = flag fair; rank_marks; tableau = optional tableau labels }
  | _ -> unreadable part

let read text =
  match lists_of text with
  | [ List [ Word "model"; kind; bound ]; List [ Word "capacity"; capacity ]; asked ] ->
      { model = { kind = buffering kind; bound = limit bound }; capacity = int capacity; what = what asked }
  | parts -> unreadable (List parts)
