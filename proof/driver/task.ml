(* What is asked: a list of lists in parentheses. You have to believe this file. *)

open Checker
open Lists
open Reading

(* [Ranks]: the automaton of what refutes a property, whether processes are fair, and the mark of each rank. *)
type what = Steps | Invariant of question | Ranks of automaton * bool * int array

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

let int = function Word text -> int_of_string text | part -> unreadable part

let what part =
  match part with
  | List [ Word "steps" ] -> Steps
  | List [ Word "invariant"; bad; deadlock; List finals ] ->
      Invariant { bad = optional expression bad; no_deadlock = flag deadlock; finals = List.map final_claim finals }
  | List [ Word "ranks"; first; marks; atoms; List nodes; fair; rank_marks ] ->
      let moves_of = List.map (list_of move) nodes in
      let automaton = { moves_of; first_node = nat first; marks = nat marks; atoms = list_of expression atoms } in
      Ranks (automaton, flag fair, Array.of_list (list_of int rank_marks))
  | _ -> unreadable part

let read text =
  match lists_of text with
  | [ List [ Word "model"; kind; bound ]; List [ Word "capacity"; capacity ]; asked ] ->
      { model = { kind = buffering kind; bound = limit bound }; capacity = int capacity; what = what asked }
  | parts -> unreadable (List parts)
