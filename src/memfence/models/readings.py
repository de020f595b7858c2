"""What a memory model makes of the memory orders that a program writes.

Under TSO that is the code that gcc and clang generate for x86; PSO does the same, with fences between stores where they
are needed. Loads of every order are loads in all models here; a read-modify-write is a locked access in all of them.
"""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from memfence.program.ir import FenceKind, Rmw, Store, Transition
from memfence.program.orders import MemoryOrder


class StoreReading(Enum):
    """What a store of some memory order is under a model."""

    PLAIN = "a store"
    SEPARATED = "an sfence, then a store"
    LOCKED = "a locked store: buffers empty before, memory written at once"


class Reading(Protocol):
    """How a memory model reads orders."""

    def reading_of_store(self, order: MemoryOrder) -> StoreReading:
        """How a store of this order is performed."""

    def reading_of_fence(self, order: MemoryOrder) -> FenceKind | None:
        """The fence that a `thread_fence` of this order becomes; None: it only keeps compilers from moving things."""


def is_locked(model: Reading, transition: Transition) -> bool:
    """Whether the transition needs its process's buffers empty and works on memory directly: one such op is enough."""
    return transition.locked or any(
        isinstance(op, Rmw) or (isinstance(op, Store) and model.reading_of_store(op.order) is StoreReading.LOCKED)
        for op in transition.ops
    )
