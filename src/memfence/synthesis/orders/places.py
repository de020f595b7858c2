"""Places of the text where an order can be stronger or a fence can stand, and the edits that are possible there.

An edit adds one strength at one place. The ops of one place are tied: all instances of a function, and all of its calls
that were put in place, change together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from memfence.program.ir import Fence, FencePoint, Load, Op, Program, Rmw, Store
from memfence.program.orders import MemoryOrder
from memfence.records import Record
from memfence.source import Span
from memfence.synthesis.orders.strengths import POSSIBLE, Kind, Strength, order_with, strengths_of

OpNumber = tuple[int, int, int]
"""Process, transition and op of a program."""


class OrderPlace(Record):
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


class OrderEdit(Record):
    """One strength more at one place, by its number among the places."""

    place: int
    strength: Strength


def find_places(program: Program, points: Mapping[OpNumber, FencePoint]) -> tuple[OrderPlace, ...]:
    """The places where something can be added; `points` says which fences were put in where none is yet.

    A compare-exchange that is stronger where it fails stays as it is.
    """
    odd = {number for numbers, _, _, _ in _accesses(program) for number in numbers if _is_odd(program, number)}
    return tuple(place for place in every_place(program, points) if place.addable and not place.ops & odd)


def _is_odd(program: Program, number: OpNumber) -> bool:
    process, transition, position = number
    op = program.processes[process].transitions[transition].ops[position]
    return isinstance(op, Rmw) and not strengths_of("load", op.failure_order) <= strengths_of("load", op.order)


def every_place(program: Program, points: Mapping[OpNumber, FencePoint] | None = None) -> tuple[OrderPlace, ...]:
    """Every atomic access and fence, in the order of the text."""
    points = points or {}
    found: dict[tuple[str, int, int, Kind, str], OrderPlace] = {}
    for numbers, kind, order, span in _accesses(program):
        point = points.get(numbers[0])
        place = OrderPlace("new fence" if point is not None else kind, order, span, frozenset(), point)
        key = (span.source.path, span.start, span.end, place.kind, point.key if point is not None else order.value)
        known = found.setdefault(key, place)
        found[key] = replace(known, ops=known.ops | frozenset(numbers))
    own = program.source.path

    def in_text(place: OrderPlace) -> tuple[bool, str, int, int, Kind]:
        path = place.span.source.path
        return path != own, path, place.span.start, place.span.end, place.kind

    return tuple(sorted(found.values(), key=in_text))


def edits_of(places: tuple[OrderPlace, ...]) -> tuple[OrderEdit, ...]:
    return tuple(OrderEdit(i, strength) for i, place in enumerate(places) for strength in place.addable)


Access = tuple[tuple[OpNumber, ...], Kind, MemoryOrder, Span]


def _accesses(program: Program) -> Iterator[Access]:
    """Ops that have an order, with what they are. A load and a store in one locked step are a read-modify-write."""
    for p, process in enumerate(program.processes):
        for t, step in enumerate(process.transitions):
            ordered = [((p, t, o), op) for o, op in enumerate(step.ops) if _has_order(op)]
            kinds = [type(op) for _, op in ordered]
            if step.locked and kinds == [Load, Store]:
                numbers = tuple(number for number, _ in ordered)
                yield numbers, "rmw", _together(ordered[0][1], ordered[1][1]), step.span
                continue
            for number, op in ordered:
                yield (number,), _kind(op), _order(op), step.span


def _has_order(op: Op) -> bool:
    return isinstance(op, Rmw | Load | Store | Fence) and op.order is not MemoryOrder.PLAIN


def _kind(op: Op) -> Kind:
    match op:
        case Load():
            return "load"
        case Store():
            return "store"
        case Rmw():
            return "rmw"
        case _:
            return "fence"


def _order(op: Op) -> MemoryOrder:
    assert isinstance(op, Load | Store | Rmw | Fence)
    return op.order


def _together(load: Op, store: Op) -> MemoryOrder:
    """The order of a read-modify-write whose halves have these orders."""
    first, second = _order(load), _order(store)
    if first is MemoryOrder.SEQ_CST:
        return first
    return order_with(strengths_of("load", first) | strengths_of("store", second))


def with_order(op: Op, order: MemoryOrder) -> Op:
    """The op with another order, or with its half of it."""
    match op:
        case Load():
            return replace(op, order=order.of_read)
        case Store():
            return replace(op, order=order.of_write)
        case Rmw() | Fence():
            return replace(op, order=order)
        case _:
            raise TypeError(f"{op} has no order")
