"""Transition lists: the text format of Trencher (Bouajjani, Derevenetc, Meyer) and of the Persist tool.

`read r a` loads from address a, `write v a` stores v there, `local r e` sets a register, `check e` blocks while e is
false, `lock` and `unlock` enclose an atomic region. Registers need no declaration, values have no range, everything
starts at 0. `sfence` is our addition: the original tools know only TSO.

The memory is called `mem[0]`, `mem[1]`, ... Its size is what `memory_size` says; without it, one more than the largest
address that the program can compute (`address_bounds`).
"""

from memfence.frontends.trencher.edits import insert_fences
from memfence.frontends.trencher.lowering import parse

__all__ = ["insert_fences", "parse"]
