"""Places of the text where an order can be stronger or a fence can stand, and the edits that are possible there.

An edit adds one strength at one place. The ops of one place are tied: all instances of a function, and all of its calls
that were put in place, change together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from memfence.program.ir import Fence, FencePoint, Load, Op, Program, Rmw, Store
from memfence.program.orders import MemoryOrder
from memfence.records import dataclass
from memfence.source import Span
from memfence.synthesis.orders.strengths import POSSIBLE, Kind, Strength, strengths_of

OpNumber = tuple[int, int, int]
"""Process, transition and op of a program."""

ATOMIC = frozenset(MemoryOrder) - {MemoryOrder.PLAIN}


@dataclass(frozen=True, slots=True)
class OrderPlace:
    """`order`: what stands there now (RELAXED for a fence that is not there yet). `point`: where a new fence goes."""

    kind: Kind
    order: MemoryOrder
    span: Span
    ops: frozenset[OpNumber]
    point: FencePoint | None = None

    @property
    def addable(self) -> tuple[Strength, ...]:
        """The strengths that it does not have yet."""
        held = strengths_of(self.kind, self.order)
        return tuple(strength for strength in POSSIBLE[self.kind] if strength not in held)


@dataclass(frozen=True, slots=True)
class OrderEdit:
    """One strength more at one place, by its number among the places."""

    place: int
    strength: Strength


def find_places(program: Program, points: Mapping[OpNumber, FencePoint]) -> tuple[OrderPlace, ...]:
    """The places where something can be added; `points` says which fences were put in where none is yet."""
    return tuple(place for place in every_place(program, points) if place.addable)


def every_place(program: Program, points: Mapping[OpNumber, FencePoint] | None = None) -> tuple[OrderPlace, ...]:
    """Every atomic access and fence, in the order of the text."""
    points = points or {}
    found: dict[tuple[int, int, Kind, str], OrderPlace] = {}
    for number, op, span in _ops(program):
        point = points.get(number)
        kind: Kind | None = "new fence" if point is not None else _kind(op)
        if kind is None:
            continue
        order = MemoryOrder.RELAXED if point is not None else _order(op)
        key = (span.start, span.end, kind, point.key if point is not None else order.value)
        known = found.get(key) or OrderPlace(kind, order, span, frozenset(), point)
        found[key] = replace(known, ops=known.ops | {number})
    return tuple(sorted(found.values(), key=lambda place: (place.span.start, place.span.end, place.kind)))


def edits_of(places: tuple[OrderPlace, ...]) -> tuple[OrderEdit, ...]:
    return tuple(OrderEdit(i, strength) for i, place in enumerate(places) for strength in place.addable)


def _ops(program: Program) -> Iterator[tuple[OpNumber, Op, Span]]:
    for p, process in enumerate(program.processes):
        for t, transition in enumerate(process.transitions):
            for o, op in enumerate(transition.ops):
                yield (p, t, o), op, transition.span


def _kind(op: Op) -> Kind | None:
    match op:
        case Load(order=order) if order in ATOMIC:
            return "load"
        case Store(order=order) if order in ATOMIC:
            return "store"
        case Rmw():
            return "rmw"
        case Fence("thread_fence"):
            return "fence"
        case _:
            return None


def _order(op: Op) -> MemoryOrder:
    assert isinstance(op, Load | Store | Rmw | Fence)
    return op.order
