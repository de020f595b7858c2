"""The orders of C11 as they are. The sets are cumulative, so that a stronger order is in more of them."""

from __future__ import annotations

from memfence.axiomatic.code import Barrier, EventItem, Read, Thread, Write
from memfence.axiomatic.model import Variant
from memfence.program.orders import MemoryOrder


def variants(language: str) -> tuple[Variant, ...]:
    return (Variant(tags),)


def tags(thread: Thread, item: EventItem) -> frozenset[str]:
    """The orders of C11 that an access or fence has."""
    order = item.order
    if isinstance(item, Barrier):
        order = order_of_fence(item)
        if order in (MemoryOrder.PLAIN, MemoryOrder.RELAXED):
            return frozenset()
    elif order is MemoryOrder.PLAIN:
        return frozenset({"NA"})
    found = {"RLX"}
    if order.acquires and not isinstance(item, Write):
        found.add("ACQ")
    if order.releases and not isinstance(item, Read):
        found.add("REL")
    if {"ACQ", "REL"} <= found:
        found.add("ACQ_REL")
    if order is MemoryOrder.SEQ_CST:
        found.add("SC")
    return frozenset(found)


def order_of_fence(item: Barrier) -> MemoryOrder:
    """The order that a fence of any language has in C."""
    if item.kind == "thread_fence":
        return item.order
    return MemoryOrder.SEQ_CST if item.kind in ("mfence", "dmb.sy") else MemoryOrder.PLAIN
