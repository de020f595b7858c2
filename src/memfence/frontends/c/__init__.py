"""C and C++: clang compiles, we read its IR, run what is known, and lower the rest. Fences go back into the source.

`llvm` reads the IR, `machine` runs it as far as values are known, `library` says what functions do whose code is not
in the program, `lowering` makes a program of the rest, `edits` writes fences into the C text.
"""

from __future__ import annotations

from memfence.frontends.c.edits import insert_fences
from memfence.frontends.c.load import parse

__all__ = ["insert_fences", "parse"]
