"""C's orders on RISC-V, by the table "Mappings from C/C++ primitives to RISC-V primitives" of the manual.

Loads and stores have fences beside them: `ld; fence r,rw` acquires, `fence rw,w; sd` releases, and a seq_cst load has a
`fence rw,rw` before it as well. A read-modify-write is an AMO or a pair of LR and SC, with `.aq` and `.rl`. The branch
that repeats a failed SC is not counted as a dependency.
"""

from __future__ import annotations

from memfence.axiomatic.code import Barrier, EventItem, Read, Thread, Write
from memfence.axiomatic.model import Variant
from memfence.axiomatic.readings.c11 import order_of_fence
from memfence.program.orders import MemoryOrder


def variants(language: str) -> tuple[Variant, ...]:
    return Variant(tags, "amo"), Variant(tags, "lr/sc", rmw_by_pair=True)


def tags(thread: Thread, item: EventItem) -> frozenset[str]:
    """Cumulative: a stronger order is in more sets."""
    match item:
        case Barrier():
            return _fence(item)
        case Read():
            orders = {item.order, item.attempted or item.order}
            acquires = any(order.acquires for order in orders)
            is_sc = MemoryOrder.SEQ_CST in orders
            modifies = item.exclusive or item.attempted is not None or thread.is_read_of_pair(item)
            first, last = ("RL", "AQ") if modifies else ("After.rw.rw", "Then.r.rw")
            return frozenset({first} if is_sc else set[str]()) | frozenset({last} if acquires else set[str]())
        case Write():
            modifies = item.exclusive or item.reads_by is not None
            return frozenset({"RL" if modifies else "After.rw.w"} if item.order.releases else set[str]())


def _fence(item: Barrier) -> frozenset[str]:
    if item.kind in ("sfence", "dmb.st"):
        return frozenset({"Fence.w.w"})
    order = MemoryOrder.ACQUIRE if item.kind == "dmb.ld" else order_of_fence(item)
    found = set[str]()
    if order.acquires:
        found.add("Fence.r.rw")
    if order.releases:
        found.add("Fence.rw.w")
    if order is MemoryOrder.SEQ_CST:
        found.add("Fence.rw.rw")
    return frozenset(found)
