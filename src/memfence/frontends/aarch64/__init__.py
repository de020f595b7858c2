"""AArch64 litmus tests.

Threads become processes P0, P1, ...; memory locations are shared variables, 0 unless initialised; the condition is a
property of final states. W and X names mean the same register, and all values are integers of 32 bits. What an
instruction computes from is never simplified: `EOR W2,W0,W0` depends on W0, and so does what uses W2.
"""

from memfence.frontends.aarch64.edits import insert_fences
from memfence.frontends.aarch64.lowering import parse

__all__ = ["insert_fences", "parse"]
