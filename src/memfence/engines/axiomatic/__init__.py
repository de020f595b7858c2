"""All executions of unrolled code as one formula: what an axiomatic model allows is what a SAT solver finds.

From `axiomatic.code` to clauses: `ranges` bounds the values, `terms` turns expressions into bits (`clauses`, `vectors`,
`multiplying`), `events` and `memory` say who reads from whom, `dependencies` and `base` name the relations of an
execution, `nodes`, `reach` and `relations` those of the model, `acyclic` forbids cycles. `counters` and `chains` say
what follows from atomicity. `solve` asks, `goals` and `stuck` say what for, `decode` reads, `runs` finds the runs.
What is found is carried out by `axiomatic.replay` and judged by the interpreter: a formula is never believed.
"""
