"""The executable definition of the memory models: textbook rules in plain Python, no cleverness.

Every test compares with this, and every counterexample is replayed through it before it is shown. Read `state`, then
`steps` (what a transition does), then one model: `sc`, `tso`, `pso`; `bounded` limits the buffers of any of them.
`spec` has the models as values: what the rest of memfence asks about a model, it asks there. The search that visits all
that a small program can do by these rules is `tests/twins/reference_search.py`.
"""
