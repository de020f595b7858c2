"""Remmex's dialect of Promela (Linden and Wolper): `store(x,v)`, `load(x,v)` as a condition, `loadval(x)`, LOCK.

Every `proctype` runs once. Global variables are shared memory and only these operations touch them; a statement loads
at most one of them. `if` and `do` block until an option can start. `mfence`, `sfence`, labels, `goto`, `else` and
`assert` are as in Promela.
"""

from memfence.frontends.remmex.edits import insert_fences
from memfence.frontends.remmex.lowering import parse

__all__ = ["insert_fences", "parse"]
