"""Litmus tests in C: herd's `C` format, with the atomics of C11.

Threads become processes P0, P1, ...; what their parameters point to are shared variables, 0 unless initialised; local
variables are registers, known to the condition by their names. The condition is a property of final states. Each access
keeps its memory order; through a pointer to an ordinary type it is plain. All values are integers of 32 bits.
"""

from memfence.frontends.clitmus.edits import insert_fences
from memfence.frontends.clitmus.lowering import parse

__all__ = ["insert_fences", "parse"]
