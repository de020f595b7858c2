(** What the theorems named in [docs/theory/certificates.md] rest on. *)

From Memfence Require Import Successors StateSet Checker Bounds Fairness Ranks Ltl Tableau.

Print Assumptions starts_complete.
Print Assumptions successors_exact.
Print Assumptions found_was_listed.
Print Assumptions reachable_states_are_listed.
Print Assumptions accepted_invariant_excludes_bad_states.
Print Assumptions continuations_complete.
Print Assumptions accepted_ranks_exclude_refuting_runs.
Print Assumptions ways_complete.
Print Assumptions accepted_ranks_prove_the_formula.
Print Assumptions take_more.
Print Assumptions no_refusal_no_larger_buffer.
Print Assumptions a_bound_that_refuses_nothing_is_none.
