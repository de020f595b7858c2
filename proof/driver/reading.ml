(* From canonical texts to the programs that the proofs are about. You have to believe this file. *)

open Checker
open Lists
open Numbers

let z = function Word text -> z_of_text text | part -> unreadable part
let nat = function Word text -> nat_of_int (int_of_string text) | part -> unreadable part
let list_of read = function List parts -> List.map read parts | part -> unreadable part
let optional read = function Word "_" -> None | part -> Some (read part)

let unary = function "-" -> Some Negative | "!" -> Some Not | "~" -> Some Complement | _ -> None

let binary = function
  | "+" -> Some Plus | "-" -> Some Minus | "*" -> Some Times | "/" -> Some Divided | "%" -> Some Modulo
  | "<<" -> Some ShiftLeft | ">>" -> Some ShiftRight | "&" -> Some BitAnd | "|" -> Some BitOr | "^" -> Some BitXor
  | "==" -> Some Equal | "!=" -> Some Different | "<" -> Some Less | "<=" -> Some LessEqual
  | ">" -> Some Greater | ">=" -> Some GreaterEqual | "&&" -> Some And | "||" -> Some Or
  | _ -> None

let rec expression part =
  match part with
  | Word _ -> Const (z part)
  | List [ Word "register"; number ] -> Register (nat number)
  | List [ Word "register-of"; process; number ] -> RegisterOf (nat process, nat number)
  | List [ Word "memory"; base; size; index ] -> Shared (nat base, z size, expression index)
  | List [ Word "at"; process; locations ] -> At (nat process, list_of z locations)
  | List [ Word "empty"; process ] -> BufferEmpty (nat process)
  | List [ Word "?"; condition; yes; no ] -> Conditional (expression condition, expression yes, expression no)
  | List [ Word name; operand ] -> (
      match unary name with Some op -> Unary (op, expression operand) | None -> unreadable part)
  | List [ Word name; left; right ] -> (
      match binary name with Some op -> Binary (op, expression left, expression right) | None -> unreadable part)
  | _ -> unreadable part

let address from size index = { base = nat from; size = z size; index = expression index }

let domain low high = function
  | Word "error" -> { low = z low; high = z high; wraps = false }
  | Word "wrap" -> { low = z low; high = z high; wraps = true }
  | part -> unreadable part

let order = function
  | Word "plain" -> Plain
  | Word "relaxed" -> Relaxed
  | Word "consume" -> Consume
  | Word "acquire" -> Acquire
  | Word "release" -> Release
  | Word "acq_rel" -> AcquireRelease
  | Word "seq_cst" -> SeqCst
  | part -> unreadable part

let modification = function
  | Word "exchange" -> Exchange
  | Word "compare_exchange" -> CompareExchange
  | Word "add" -> Add
  | Word "sub" -> Sub
  | Word "and" -> AndBits
  | Word "or" -> OrBits
  | Word "xor" -> XorBits
  | Word "nand" -> NandBits
  | Word "max" -> Max
  | Word "min" -> Min
  | part -> unreadable part

let direct = function Word "direct" -> true | Word "buffered" -> false | part -> unreadable part

let fence = function
  | Word "mfence" -> Some Mfence
  | Word "sfence" -> Some Sfence
  | Word "thread_fence" -> None
  | part -> unreadable part

let operation part =
  match part with
  | List [ Word "load"; register; base; size; index; when_; _ ] ->
      Load (nat register, address base size index, optional expression when_)
  | List [ Word "store"; base; size; index; value; kind; order_; when_ ] ->
      let place = address base size index in
      Store (place, expression value, direct kind, order order_, optional expression when_)
  | List [ Word "rmw"; register; base; size; index; kind; operand; expected; _; _ ] ->
      let place = address base size index in
      Rmw (optional nat register, place, modification kind, expression operand, optional expression expected)
  | List [ Word "assign"; register; value ] -> Assign (nat register, expression value)
  | List [ Word "assume"; condition ] -> Assume (expression condition)
  | List [ Word "assert"; condition; Text _ ] -> Assert (expression condition)
  | List [ Word "fence"; kind; order_ ] -> Fence (fence kind, order order_)
  | List [ Word "lock" ] -> Lock
  | List [ Word "unlock" ] -> Unlock
  | _ -> unreadable part

(* Channels get numbers in the order in which they are met. *)
let channels : (string, nat) Hashtbl.t = Hashtbl.create 16

let channel_of name =
  if not (Hashtbl.mem channels name) then Hashtbl.add channels name (nat_of_int (Hashtbl.length channels));
  Hashtbl.find channels name

let sends = function Word "sends" -> true | Word "receives" -> false | part -> unreadable part

let sync part =
  match part with
  | List [ Word "sync"; Text name; side; values; registers; guards ] ->
      { channel = channel_of name; sends = sends side; values = list_of expression values;
        targets = list_of nat registers; guards = nat guards }
  | _ -> unreadable part

let locked = function Word "locked" -> true | Word "plain" -> false | part -> unreadable part
let transient = function Word "transient" -> true | Word "kept" -> false | part -> unreadable part

let transition source target kind meeting operations =
  { source = z source; target = z target; locked = locked kind; meeting = optional sync meeting;
    operations = List.map operation operations }

let register low high overflow init kind =
  { register_domain = domain low high overflow; register_init = list_of z init; transient = transient kind }

(* The lines of a process up to the next one. *)
type lines = {
  initial : z;
  mutable registers : register_variable list;
  mutable locations : t list list;
  mutable transitions : transition list;
}

let marked mark locations =
  List.concat (List.mapi (fun n marks -> if List.mem (Word mark) marks then [ z_of_int n ] else []) locations)

let process_of_lines lines =
  let locations = List.rev lines.locations in
  process_of (List.rev lines.registers) lines.initial (marked "committed" locations) (marked "may_end" locations)
    (List.rev lines.transitions)

(* The program, and how many locations each process has. *)
let program text =
  let variables = ref [] and processes = ref [] in
  let current part = match !processes with first :: _ -> first | [] -> unreadable part in
  let line part =
    match part with
    | List [ Word "variable"; Text _; low; high; overflow; init ] ->
        variables := { variable_domain = domain low high overflow; variable_init = list_of z init } :: !variables
    | List [ Word "process"; Text _; Text _; initial ] ->
        processes := { initial = z initial; registers = []; locations = []; transitions = [] } :: !processes
    | List [ Word "register"; Text _; low; high; overflow; init; kind; _ ] ->
        let own = current part in
        own.registers <- register low high overflow init kind :: own.registers
    | List (Word "location" :: List _ :: marks) ->
        let own = current part in
        own.locations <- marks :: own.locations
    | List (Word "step" :: source :: target :: kind :: meeting :: operations) ->
        let own = current part in
        own.transitions <- transition source target kind meeting operations :: own.transitions
    | List [ Word "errors"; List _ ] -> () (* what follows an error: no claim about an error is ever accepted *)
    | _ -> unreadable part
  in
  List.iter line (lists_of text);
  let lines = List.rev !processes in
  ( { variables = List.rev !variables; processes = List.map process_of_lines lines },
    List.map (fun own -> List.length own.locations) lines )
