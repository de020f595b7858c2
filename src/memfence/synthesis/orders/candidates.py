"""The program with a fence that does nothing yet wherever one could stand, and with the orders that a choice gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from memfence.program.ir import Fence, FencePoint, Op, Program, Rmw
from memfence.program.orders import MemoryOrder
from memfence.synthesis.apply_edits import insert_fences
from memfence.synthesis.orders.places import OpNumber, OrderPlace, with_order
from memfence.synthesis.orders.strengths import Strength, order_with, strengths_of

NO_FENCE = Fence("thread_fence", MemoryOrder.RELAXED)


def with_candidate_fences(program: Program) -> tuple[Program, Mapping[OpNumber, FencePoint]]:
    """`program` with a relaxed fence, which orders nothing, at every fence point, and which op belongs to which."""
    points = list(dict.fromkeys(_points(program)))
    fenced = insert_fences(program, dict.fromkeys(points, (NO_FENCE,)))
    by_span = {point.span: point for point in reversed(points)}
    added = {
        (p, t, 0): by_span[process.transitions[t].span]
        for p, process in enumerate(fenced.processes)
        for t in range(len(program.processes[p].transitions), len(process.transitions))
    }
    return fenced, added


def strengthened(program: Program, changes: Iterable[tuple[OrderPlace, frozenset[Strength]]]) -> Program:
    """`program` with the strengths added at each place; new fences are those of `with_candidate_fences`."""
    orders = {op: new_order(place, added) for place, added in changes for op in place.ops}
    processes = [
        replace(
            process,
            transitions=tuple(
                replace(transition, ops=tuple(_with(op, orders.get((p, t, o))) for o, op in enumerate(transition.ops)))
                for t, transition in enumerate(process.transitions)
            ),
        )
        for p, process in enumerate(program.processes)
    ]
    return replace(program, processes=tuple(processes))


def new_order(place: OrderPlace, added: frozenset[Strength]) -> MemoryOrder:
    """The order at a place once these strengths are added."""
    return order_with(strengths_of(place.kind, place.order) | added) if added else place.order


def _points(program: Program) -> Iterable[FencePoint]:
    for process in program.processes:
        for place in process.locations:
            if place.point is not None:
                yield place.point
        for transition in process.transitions:
            if transition.point is not None:
                yield transition.point


def _with(op: Op, order: MemoryOrder | None) -> Op:
    """A compare-exchange that reads alike whether it fails or not goes on to do so."""
    if order is None:
        return op
    if isinstance(op, Rmw) and strengths_of("load", op.failure_order) == strengths_of("load", op.order):
        return replace(op, order=order, failure_order=order.of_read)
    return with_order(op, order)
