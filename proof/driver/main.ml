(* Reads what is asked, a program and blocks of rows from standard input; writes one line of JSON per answer.

   A frame is its kind (four letters), its length (four bytes, the highest first) and its content: `TASK`, `PROG`, any
   number of `ROWS`, `DONE`. The answer is ["accepted", COUNT], ["malformed", REASON], ["order", STATE], ["unreadable",
   REASON] or a complaint of the checker; where steps are asked for, one line for each row: all its steps. *)

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

let answer () =
  let task = Task.read (expect "TASK") in
  let program, locations = Reading.program (expect "PROG") in
  let layout = Rows.layout program locations task.model.kind task.capacity in
  match task.what with
  | Steps -> Judging.steps program task.model layout each_block
  | Invariant question -> print_endline (Judging.invariant program task.model question layout each_block)
  | Ranks ranks -> print_endline (Judging.ranks program task.model ranks layout each_block)

let reply word reason = Printf.printf "[\"%s\",\"%s\"]\n" word (String.escaped reason)

let () =
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 20; space_overhead = 200 };
  set_binary_mode_in stdin true;
  try answer () with
  | Rows.Malformed reason -> reply "malformed" reason
  | Judging.Not_in_order state -> Printf.printf "[\"order\",%s]\n" (Showing.state state)
  | Lists.Unreadable reason | Failure reason | Invalid_argument reason -> reply "unreadable" reason
  | End_of_file -> reply "unreadable" "the input ends too early"
  | Stack_overflow | Out_of_memory -> reply "unreadable" "not enough memory"
