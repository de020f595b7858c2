(* What is asked: a list of lists in parentheses. You have to believe this file. *)

open Checker
open Lists
open Reading

type t = { model : model; capacity : int; question : question; shows_steps : bool }

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

let read text =
  match lists_of text with
  | [ List [ Word "model"; kind; bound ]; List [ Word "capacity"; Word capacity ]; List [ Word "bad"; bad ];
      List [ Word "deadlock"; deadlock ]; List (Word "finals" :: finals); List [ Word "show"; steps ] ] ->
      { model = { kind = buffering kind; bound = limit bound };
        capacity = int_of_string capacity;
        question =
          { bad = optional expression bad; no_deadlock = flag deadlock; finals = List.map final_claim finals };
        shows_steps = flag steps }
  | parts -> unreadable (List parts)
