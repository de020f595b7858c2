(* States, steps and answers as JSON. *)

open Checker
open Numbers

let list show parts = "[" ^ String.concat "," (List.map show parts) ^ "]"
let nat n = string_of_int (int_of_nat n)
let entry = function Pending (variable, value) -> "[" ^ nat variable ^ "," ^ text_of_z value ^ "]" | Separator -> "null"

let state s =
  let owner = match s.lock_owner with None -> "null" | Some p -> nat p in
  let parts =
    [ list text_of_z s.locations; list (list text_of_z) s.registers; list text_of_z s.memory;
      list (list (list entry)) s.buffers; owner ]
  in
  list Fun.id parts

let step = function
  | Run (p, n) -> list Fun.id [ "\"run\""; nat p; nat n ]
  | Meet (p, n, q, k) -> list Fun.id [ "\"meet\""; nat p; nat n; nat q; nat k ]
  | Commit (p, n) -> list Fun.id [ "\"commit\""; nat p; nat n ]
  | DropSeparator p -> list Fun.id [ "\"drop\""; nat p ]

let taken (l, r) =
  list Fun.id [ step l; (match r with Done after -> state after | Blocked -> "false" | Failed -> "null") ]

let optional_step = function None -> "null" | Some l -> step l

let rank_complaint found =
  let word, parts =
    match found with
    | StartUnranked s -> ("initial", [ state s ])
    | Unranked (s, l, after) -> ("closed", [ state s; optional_step l; state after ])
    | Grows (s, l, after) -> ("grows", [ state s; optional_step l; state after ])
    | Stays (s, l, after) -> ("stays", [ state s; optional_step l; state after ])
  in
  list Fun.id (("\"" ^ word ^ "\"") :: parts)

let complaint found =
  let word, parts =
    match found with
    | InitialMissing s -> ("initial", [ state s ])
    | Bad s -> ("bad", [ state s ])
    | RefutesFinal s -> ("final", [ state s ])
    | Fails (s, l) -> ("failure", [ state s; step l ])
    | LeadsOut (s, l, after) -> ("closed", [ state s; step l; state after ])
    | Deadlock s -> ("deadlock", [ state s ])
  in
  list Fun.id (("\"" ^ word ^ "\"") :: parts)
