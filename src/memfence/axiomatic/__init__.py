"""Programs as sets of events: unrolled code, its executions, and what an axiomatic memory model says of each.

Models in which loads are delayed, or threads see stores in different orders, have no states to explore. A text in
herd's cat language (`models/cat`) says which executions they allow. Solvers are in `engines/axiomatic`.
"""
