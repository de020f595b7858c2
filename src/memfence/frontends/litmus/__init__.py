"""x86 litmus tests: `X86` (Intel, destination first) and `X86_64` (AT&T, source first).

Threads become processes P0, P1, ...; memory locations are shared variables, 0 unless initialised; the condition is a
property of final states. All values are integers: 32-bit and 64-bit instructions mean the same.
"""

from memfence.frontends.litmus.edits import insert_fences
from memfence.frontends.litmus.lowering import parse

__all__ = ["insert_fences", "parse"]
