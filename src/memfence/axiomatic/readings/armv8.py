"""C's orders on ARMv8: an acquire load is LDAR or LDAPR, a read-modify-write one instruction (LSE) or a pair of
exclusives, as the compiler chooses."""

from __future__ import annotations

from memfence.axiomatic.code import Barrier, EventItem, Read, Thread, Write
from memfence.axiomatic.model import Tags, Variant
from memfence.models.catalogue import ASSEMBLIES
from memfence.program.orders import MemoryOrder


def variants(language: str) -> tuple[Variant, ...]:
    """Assembly says which instruction it means, LDAPR where it acquires only."""
    if language in ASSEMBLIES:
        return (Variant(tags_by(ldapr=True)),)
    return tuple(
        Variant(tags_by(ldapr=load == "ldapr"), f"{load}, {rmw}", rmw == "llsc")
        for load in ("ldar", "ldapr")
        for rmw in ("lse", "llsc")
    )


def tags_by(*, ldapr: bool) -> Tags:
    def tags(thread: Thread, item: EventItem) -> frozenset[str]:
        match item:
            case Barrier():
                return _fence(item)
            case Read():
                orders = {item.order, item.attempted or item.order}
                modifies = item.exclusive or item.locked or thread.is_read_of_pair(item)
                marks = {"X"} if modifies else set[str]()
                if any(order.acquires for order in orders):
                    weaker = ldapr and not modifies and item.order is not MemoryOrder.SEQ_CST
                    marks.add("Q" if weaker else "A")
                return frozenset(marks)
            case Write():
                exclusive = {"X"} if item.exclusive or item.reads_by is not None else set[str]()
                return frozenset(exclusive | ({"L"} if item.order.releases else set()))

    return tags


def _fence(item: Barrier) -> frozenset[str]:
    match item.kind:
        case "dmb.sy" | "dmb.ld" | "dmb.st" | "isb":
            return frozenset({item.kind.upper()})
        case "mfence":
            return frozenset({"DMB.SY"})
        case "sfence":
            return frozenset({"DMB.ST"})
        case "locked":
            return frozenset()
        case "thread_fence":
            if item.order.releases:
                return frozenset({"DMB.SY"})
            return frozenset({"DMB.LD"}) if item.order.acquires else frozenset()
