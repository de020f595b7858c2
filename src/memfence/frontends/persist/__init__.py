"""The assembly-like language of the persistence paper (Abdulla, Atig, Ngo, TACAS 2015, Fig. 8 and section 5).

`x = e` writes, `$r = x` reads, `$r = e` computes; `fence`, `skip` and `assume e` are as in the paper, and
`arw(x, a, b)` waits until x is a and sets it to b, in one locked step. Expressions are over registers only; a label
that no instruction has ends the process. The `$` of a register may be left out where no shared variable has its name.

Ours, not the paper's: `sfence`; `assert e`; `locked x = e` and `locked $r = x`; `x = 1 : [0:3]` where something is
declared (initial value, range); `forbid CONDITION;` and `invariant CONDITION;` after the last process.
"""

from memfence.frontends.persist.edits import insert_fences
from memfence.frontends.persist.lowering import parse

__all__ = ["insert_fences", "parse"]
