"""Memorax's RMM (`.rmm`): processes over shared variables with declared domains, and forbidden combinations of labels.

A read, write or assignment whose value lies outside the declared domain blocks, as in Memorax. `cas` blocks until the
old value is there. `*` as an initial value means any value of the domain. `sfence` is our addition.
"""

from memfence.frontends.rmm.edits import insert_fences
from memfence.frontends.rmm.lowering import parse

__all__ = ["insert_fences", "parse"]
