(* The states of a certificate: rows of bytes, as docs/theory/certificates.md has them.

   Nothing here has to be believed: whatever is read, the set of states is accepted only if it is an invariant. *)

open Checker
open Numbers

exception Malformed of string

let rows_in_a_block = 1 lsl 15

(* Values from `lo` to `hi` in `width` bytes. Small ranges have all their values made in advance. *)
type column = { lo : z; hi : z; width : int; made : z array }

let widths =
  [ (1, z_of_text "256"); (2, z_of_text "65536"); (4, z_of_text "4294967296"); (8, z_of_text "18446744073709551616");
    (9, z_of_text "4722366482869645213696") ]

let column lo hi =
  let span = Z.add hi (Z.opp lo) in
  let width =
    match List.find_opt (fun (_, power) -> Z.ltb span power) widths with
    | Some (width, _) -> width
    | None -> raise (Malformed "a column is too wide")
  in
  let made = if width > 2 then [||] else Array.init (small span + 1) (fun n -> Z.add lo (z_of_int n)) in
  { lo; hi; width; made }

let read_z row at width =
  let value = ref Z0 in
  for n = at to at + width - 1 do
    value := Z.add (Z.mul !value (z_of_int 256)) (z_of_int (Char.code (Bytes.get row n)))
  done;
  !value

let value column row at =
  if column.width <= 2 then begin
    let first = Char.code (Bytes.unsafe_get row at) in
    let number = if column.width = 1 then first else (first lsl 8) lor Char.code (Bytes.get row (at + 1)) in
    if number >= Array.length column.made then raise (Malformed "not a value of its column");
    column.made.(number)
  end
  else
    let found = Z.add column.lo (read_z row at column.width) in
    if Z.leb found column.hi then found else raise (Malformed "not a value of its column")

(* A queue of a process with room for `room` entries; of one variable, or of all. *)
type queue = { length : column; room : int; variable : nat option; which : column; content : column }

type layout = {
  places : column list;
  memory : column list;
  owner : column option;
  registers : column option list list; (* None for a transient register *)
  queues : queue list list;
  width : int;
}

let range domain = column domain.low domain.high
let upto n = column Z0 (z_of_int n)

let least a b = if Z.leb a b then a else b
let greatest a b = if Z.leb a b then b else a

let queues_of program kind capacity process =
  let domain_of v = (List.nth program.variables (int_of_nat v)).variable_domain in
  let domains = List.map domain_of process.stored in
  match kind with
  | Nowhere -> []
  | PerProcess ->
      let which = upto (List.length program.variables - 1) in
      let queue room content = [ { length = upto room; room; variable = None; which; content } ] in
      (match domains with
      | [] -> queue 0 (upto 0)
      | first :: rest ->
          let lo = List.fold_left (fun lo d -> least lo d.low) first.low rest in
          let hi = List.fold_left (fun hi d -> greatest hi d.high) first.high rest in
          queue capacity (column lo hi))
  | PerVariable ->
      let queue variable domain =
        let content = column domain.low (Z.add domain.high (z_of_int 1)) in
        { length = upto capacity; room = capacity; variable = Some variable; which = upto 0; content }
      in
      List.map2 queue process.stored domains

let takes_lock process = List.exists (fun (t : transition) -> List.mem Lock t.operations) process.transitions

let width_of_queue (q : queue) =
  let entry = match q.variable with None -> q.which.width + q.content.width | Some _ -> q.content.width in
  q.length.width + (q.room * entry)

let sum f list = List.fold_left (fun total x -> total + f x) 0 list
let width_of (c : column) = c.width

let layout program locations kind capacity =
  let places = List.map (fun count -> upto (count - 1)) locations in
  let memory = List.map (fun v -> range v.variable_domain) program.variables in
  let owner = if List.exists takes_lock program.processes then Some (upto (List.length locations)) else None in
  let kept r = if r.transient then None else Some (range r.register_domain) in
  let registers = List.map (fun p -> List.map kept p.register_variables) program.processes in
  let queues = List.map (queues_of program kind capacity) program.processes in
  let optional = function None -> 0 | Some c -> width_of c in
  let width =
    sum width_of places + sum width_of memory + optional owner + sum (sum optional) registers
    + sum (sum width_of_queue) queues
  in
  { places; memory; owner; registers; queues; width }

(* `List.map` with a fixed order: it moves a cursor. *)
let rec in_order f = function [] -> [] | x :: rest -> let y = f x in y :: in_order f rest

let state layout row =
  let at = ref 0 in
  let next (c : column) = let found = value c row !at in at := !at + c.width; found in
  let entry (q : queue) =
    match q.variable with
    | None -> let v = small (next q.which) in Pending (nat_of_int v, next q.content)
    | Some v -> let found = next q.content in if found = q.content.hi then Separator else Pending (v, found)
  in
  let unused (q : queue) =
    if q.variable = None && next q.which <> Z0 || next q.content <> q.content.lo then
      raise (Malformed "something stands behind the end of a buffer")
  in
  let buffer (q : queue) =
    let used = small (next q.length) in
    let entries = in_order (fun _ -> entry q) (List.init used Fun.id) in
    for _ = used + 1 to q.room do unused q done;
    entries
  in
  let locations = in_order next layout.places in
  let memory = in_order next layout.memory in
  let owner = match layout.owner with None -> 0 | Some c -> small (next c) in
  let register = function None -> Z0 | Some c -> next c in
  let registers = in_order (in_order register) layout.registers in
  let buffers = in_order (in_order buffer) layout.queues in
  { locations; registers; memory; buffers; lock_owner = (if owner = 0 then None else Some (nat_of_int (owner - 1))) }

(* Calls `each` for every row, of `width` bytes, of a block of byte planes, in order. *)
let iter width block each =
  let size = String.length block in
  let count = if width = 0 then 0 else size / width in
  if count = 0 || count > rows_in_a_block || count * width <> size then
    raise (Malformed "a block does not consist of whole states");
  for n = 0 to count - 1 do
    each (Bytes.init width (fun plane -> block.[(plane * count) + n]))
  done

(* Behind the state, a row of ranked pairs has the number of a node and a rank, in four bytes each. *)
let number_bytes = 4

let pair layout row =
  let number at = Int32.to_int (Bytes.get_int32_be row at) land 0xFFFFFFFF in
  (state layout row, number layout.width, number (layout.width + number_bytes))
