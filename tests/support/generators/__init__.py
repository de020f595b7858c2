"""Random programs, texts, formulas and proofs for tests against slow twins: one file per kind."""
