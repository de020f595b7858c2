"""Memory orders as sets of strengths: to acquire, to release, to take part in the one order of seq_cst.

An access or fence can be made stronger by adding strengths. seq_cst implies what the kind of access can have of the
other two, so that the orders of each kind form a lattice: stronger is more strengths.
"""

from __future__ import annotations

from typing import Literal

from memfence.program.orders import MemoryOrder

Strength = Literal["acquire", "release", "seq_cst"]
Kind = Literal["load", "store", "rmw", "fence", "new fence"]

POSSIBLE: dict[Kind, tuple[Strength, ...]] = {
    "load": ("acquire", "seq_cst"),
    "store": ("release", "seq_cst"),
    "rmw": ("acquire", "release", "seq_cst"),
    "fence": ("acquire", "release", "seq_cst"),
    "new fence": ("acquire", "release", "seq_cst"),
}
"""What each kind can have, weaker ones first."""

_OF_ORDER: dict[MemoryOrder, frozenset[Strength]] = {
    MemoryOrder.PLAIN: frozenset(),
    MemoryOrder.RELAXED: frozenset(),
    MemoryOrder.CONSUME: frozenset({"acquire"}),
    MemoryOrder.ACQUIRE: frozenset({"acquire"}),
    MemoryOrder.RELEASE: frozenset({"release"}),
    MemoryOrder.ACQ_REL: frozenset({"acquire", "release"}),
    MemoryOrder.SEQ_CST: frozenset({"acquire", "release", "seq_cst"}),
}


def strengths_of(kind: Kind, order: MemoryOrder) -> frozenset[Strength]:
    """What an access of this kind and order has."""
    return _OF_ORDER[order] & frozenset(POSSIBLE[kind])


def order_with(strengths: frozenset[Strength]) -> MemoryOrder:
    """The weakest order that has all of them; RELAXED for none."""
    if "seq_cst" in strengths:
        return MemoryOrder.SEQ_CST
    if strengths == {"acquire", "release"}:
        return MemoryOrder.ACQ_REL
    return MemoryOrder(next(iter(strengths), "relaxed"))


def orders_of(kind: Kind) -> tuple[tuple[frozenset[Strength], MemoryOrder], ...]:
    """Every order of the kind, with the strengths that make it."""
    halves = [s for s in POSSIBLE[kind] if s != "seq_cst"]
    sets: list[frozenset[Strength]] = [frozenset()]
    for half in halves:
        sets += [found | {half} for found in sets]
    sets.append(frozenset(POSSIBLE[kind]))
    return tuple((found, order_with(found)) for found in sets)
