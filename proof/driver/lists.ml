(* Lists in parentheses, as in canonical texts. *)

type t = Word of string | Text of string | List of t list

exception Unreadable of string

let is_space c = c = ' ' || c = '\n'
let ends_word c = is_space c || c = '(' || c = ')' || c = '"'

(* The place behind a quoted text; what is escaped there does not end it. *)
let rec end_of_text source at =
  if at >= String.length source then raise (Unreadable "a text does not end")
  else
    match source.[at] with
    | '"' -> at + 1
    | '\\' -> end_of_text source (at + 2)
    | _ -> end_of_text source (at + 1)

let rec end_of_word source at =
  if at < String.length source && not (ends_word source.[at]) then end_of_word source (at + 1) else at

(* Everything up to the end, or up to the parenthesis that closes, newest first; and the place behind it. *)
let rec read source at found depth =
  if at >= String.length source then
    if depth = 0 then (found, at) else raise (Unreadable "a list does not end")
  else
    match source.[at] with
    | '(' ->
        let inner, next = read source (at + 1) [] (depth + 1) in
        read source next (List (List.rev inner) :: found) depth
    | ')' -> if depth > 0 then (found, at + 1) else raise (Unreadable "a parenthesis too many")
    | '"' ->
        let next = end_of_text source (at + 1) in
        read source next (Text (String.sub source at (next - at)) :: found) depth
    | c when is_space c -> read source (at + 1) found depth
    | _ ->
        let next = end_of_word source at in
        read source next (Word (String.sub source at (next - at)) :: found) depth

let lists_of source = List.rev (fst (read source 0 [] 0))

let rec show = function
  | Word word -> word
  | Text text -> text
  | List parts -> "(" ^ String.concat " " (List.map show parts) ^ ")"

let unreadable part = raise (Unreadable ("cannot read " ^ show part))
