"""The memory orders of C11, as a program writes them; what an order means is the memory model's matter."""

from __future__ import annotations

from enum import Enum


class MemoryOrder(Enum):
    """How strongly an access or fence is ordered; PLAIN for accesses that are not atomic in the source language."""

    PLAIN = "plain"
    RELAXED = "relaxed"
    CONSUME = "consume"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"
    SEQ_CST = "seq_cst"

    @property
    def releases(self) -> bool:
        """Whether earlier accesses of the process stay before a store or fence of this order."""
        return self in (MemoryOrder.RELEASE, MemoryOrder.ACQ_REL, MemoryOrder.SEQ_CST)

    @property
    def acquires(self) -> bool:
        """Whether later accesses of the process stay behind a load or fence of this order."""
        return self in (MemoryOrder.CONSUME, MemoryOrder.ACQUIRE, MemoryOrder.ACQ_REL, MemoryOrder.SEQ_CST)

    @property
    def of_read(self) -> MemoryOrder:
        """What is left of the order of a read-modify-write where it only reads."""
        match self:
            case MemoryOrder.RELEASE:
                return MemoryOrder.RELAXED
            case MemoryOrder.ACQ_REL:
                return MemoryOrder.ACQUIRE
            case _:
                return self
