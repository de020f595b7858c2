"""Locked accesses and fences, as compilers for x86 make them of C's orders; with PSO's store fences."""

from __future__ import annotations

from memfence.axiomatic.code import Barrier, EventItem, Read, Thread, Write
from memfence.axiomatic.model import Variant
from memfence.axiomatic.readings.c11 import order_of_fence
from memfence.program.orders import MemoryOrder


def variants(language: str) -> tuple[Variant, ...]:
    return (Variant(tags),)


def tags(thread: Thread, item: EventItem) -> frozenset[str]:
    """`REL` is for PSO, which has a store fence before a store that releases."""
    match item:
        case Barrier():
            if item.kind == "locked" or order_of_fence(item) is MemoryOrder.SEQ_CST:
                return frozenset({"MFENCE"})
            stores = item.kind in ("sfence", "dmb.st") or order_of_fence(item).releases
            return frozenset({"SFENCE"}) if stores else frozenset()
        case Read():
            return frozenset({"LOCKED"}) if _is_locked(thread, item) else frozenset()
        case Write():
            released = {"REL"} if item.order.releases else set[str]()
            return frozenset(released | ({"LOCKED"} if _is_locked(thread, item) else set()))


def _is_locked(thread: Thread, item: Read | Write) -> bool:
    """Whether its step is: one access that is locked by itself is enough."""
    if _locks(item):
        return True
    return item.step >= 0 and any(
        isinstance(other, Read | Write) and other.step == item.step and _locks(other) for _, other in thread.events
    )


def _locks(item: Read | Write) -> bool:
    if item.locked:
        return True
    return isinstance(item, Write) and (item.order is MemoryOrder.SEQ_CST or item.reads_by is not None)
