(** The checker as an OCaml program. Truth values, lists, pairs and options become OCaml's own; numbers stay as Coq
    defines them, so that no arithmetic has to be believed. *)

From Coq Require Import ZArith Extraction ExtrOcamlBasic.
From Memfence Require Import Program State Evaluation Models Steps Successors StateSet Checker Fairness Ranks Ltl.
From Memfence Require Import Tableau.

Extraction Language OCaml.
(* OCaml evaluates arguments first; written out, only what is needed is evaluated. *)
Extraction Inline possible_only_if bind evaluated option_map.
Extraction "checker.ml"
  judge judge_ranks judge_formula conditions successors starts process_of
  Z.add Z.mul Z.opp Z.leb Z.ltb Z.div_eucl Z.to_N Z.of_nat Z.to_nat.
