(* From rows to answers: each way to judge reads its rows by `each_block`, and returns a line of JSON. *)

open Checker
open Numbers

exception Not_in_order of state

let accepted count = Printf.sprintf "[\"accepted\",%d]" count

(* What `read` makes of all rows, in their order; `refuse` for a row that is not behind the last one. *)
let read_all each_block width read ~key_width ~refuse =
  let found = ref [] and last = ref Bytes.empty in
  let add row =
    let item = read row in
    let key = Bytes.sub row 0 key_width in
    if Bytes.compare key !last <= 0 then refuse item;
    found := item :: !found;
    last := key
  in
  each_block (fun block -> Rows.iter width block add);
  List.rev !found

let invariant program model question (layout : Rows.layout) each_block =
  let refuse state = raise (Not_in_order state) in
  let states = read_all each_block layout.width (Rows.state layout) ~key_width:layout.width ~refuse in
  match judge program model question states with
  | None -> accepted (List.length states)
  | Some found -> Showing.complaint found

(* Nodes, ranks and marks have to exist; small numbers are made once. *)
let ranks program model (task : Task.ranks) (layout : Rows.layout) each_block =
  let { Task.automaton; fair; rank_marks = marks; tableau } = task in
  let malformed reason = raise (Rows.Malformed reason) in
  let nodes = Array.init (List.length automaton.moves_of) nat_of_int in
  let conditions = List.length (conditions program model fair) in
  let mark_count = max 1 (int_of_nat automaton.marks + conditions) in
  let numbers = Array.init mark_count nat_of_int in
  let read row =
    let pair_state, node, rank = Rows.pair layout row in
    if node >= Array.length nodes || rank >= Array.length marks then malformed "no such node or rank";
    if marks.(rank) < 0 || marks.(rank) >= mark_count then malformed "no such mark";
    let pair_grade = { rank = Z.to_N (z_of_int rank); mark = numbers.(marks.(rank)) } in
    { pair_state; pair_node = nodes.(node); pair_grade }
  in
  let refuse _ = malformed "ranked pairs are not in order, each once" in
  let width = layout.width + (2 * Rows.number_bytes) in
  let pairs = read_all each_block width read ~key_width:(layout.width + Rows.number_bytes) ~refuse in
  let found =
    match tableau with
    | None -> Option.map Option.some (judge_ranks program model fair automaton pairs)
    | Some (formula, labelling) -> judge_formula program model fair automaton labelling formula pairs
  in
  match found with
  | None -> accepted (List.length pairs)
  | Some None -> failwith "the automaton is no tableau of the formula"
  | Some (Some found) -> Showing.rank_complaint found

(* All steps of each state, a line for each. *)
let steps program model (layout : Rows.layout) each_block =
  let show row = print_endline (Showing.list Showing.taken (successors program model (Rows.state layout row))) in
  each_block (fun block -> Rows.iter layout.width block show)
