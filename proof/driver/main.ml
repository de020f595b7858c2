(* Reads what is asked, a program and blocks of states from standard input; writes one line of JSON per answer.

   A frame is its kind (four letters), its length (four bytes, the highest first) and its content: `TASK`, `PROG`, any
   number of `ROWS`, `DONE`. The answer is ["accepted", STATES], ["malformed", REASON], ["order", STATE], or a complaint
   of the checker; for a task that shows steps, one line for each row: all its steps. *)

open Checker

let frame () =
  let kind = really_input_string stdin 4 in
  let length = Int32.to_int (String.get_int32_be (really_input_string stdin 4) 0) in
  (kind, really_input_string stdin length)

let expect kind =
  match frame () with
  | found, content when found = kind -> content
  | found, _ -> failwith ("a frame " ^ found ^ " in the place of " ^ kind)

let rec each_block f =
  match frame () with
  | "ROWS", block -> f block; each_block f
  | "DONE", _ -> ()
  | kind, _ -> failwith ("a frame " ^ kind)

exception Not_in_order of state

(* All states, in the order of the certificate. *)
let read_states layout =
  let states = ref [] and count = ref 0 and last = ref Bytes.empty in
  let add row =
    let state = Rows.state layout row in
    if Bytes.compare row !last <= 0 then raise (Not_in_order state);
    states := state :: !states;
    incr count;
    last := row
  in
  each_block (fun block -> Rows.iter layout block add);
  (List.rev !states, !count)

let show_steps program (task : Task.t) layout =
  let show row = print_endline (Showing.list Showing.taken (successors program task.model (Rows.state layout row))) in
  each_block (fun block -> Rows.iter layout block show)

let answer program (task : Task.t) layout =
  let states, count = read_states layout in
  match judge program task.model task.question states with
  | None -> Printf.sprintf "[\"accepted\",%d]" count
  | Some found -> Showing.complaint found

let reply word reason = Printf.printf "[\"%s\",\"%s\"]\n" word (String.escaped reason)

let () =
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 20; space_overhead = 200 };
  set_binary_mode_in stdin true;
  try
    let task = Task.read (expect "TASK") in
    let program, locations = Reading.program (expect "PROG") in
    let layout = Rows.layout program locations task.model.kind task.capacity in
    if task.shows_steps then show_steps program task layout else print_endline (answer program task layout)
  with
  | Rows.Malformed reason -> reply "malformed" reason
  | Not_in_order state -> Printf.printf "[\"order\",%s]\n" (Showing.state state)
  | Lists.Unreadable reason | Failure reason | Invalid_argument reason -> reply "unreadable" reason
  | End_of_file -> reply "unreadable" "the input ends too early"
  | Stack_overflow | Out_of_memory -> reply "unreadable" "not enough memory"
