"""Is this order needed? The program with the order made weaker, one step at a time, asked about under every model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memfence.frontends.c.editable import may_be_edited
from memfence.program.ir import Op, Program, Rmw
from memfence.program.orders import MemoryOrder
from memfence.questions.models import check_models
from memfence.records import Record
from memfence.synthesis.orders.places import OpNumber, OrderPlace, every_place, with_order
from memfence.synthesis.orders.strengths import Strength, order_with, strengths_of
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import ModelAnswer
from memfence.tasks.shown import Shown


class WeakerOrder(Record):
    """What each model says where the place has the order `weaker` instead of its own. `failing`: the models that do not
    hold with its own order either."""

    place: OrderPlace
    weaker: MemoryOrder
    answers: tuple[ModelAnswer, ...]
    failing: frozenset[str]

    @property
    def is_needed(self) -> bool | None:
        """Whether some model fails then that does not fail as it is; None where nobody knows."""
        verdicts = {answer.verdict for answer in self.answers if answer.name not in self.failing}
        if Verdict.VIOLATED in verdicts:
            return True
        return None if self.failing or Verdict.UNKNOWN in verdicts else False


class NeededOrders(Shown, Record, repr=False):
    """`before`: what the models say of the program as it is."""

    program: Program
    models: tuple[str, ...]
    before: tuple[ModelAnswer, ...]
    orders: tuple[WeakerOrder, ...]


def needed_orders(
    program: Program, line: int | None, names: Sequence[str], options: CheckOptions, *, unrolled: int | None = None
) -> NeededOrders:
    """For every place of the line (None: of the text), and every order that is one step weaker."""
    before = check_models(program, names, options.afresh(), unrolled=unrolled).answers
    failing = frozenset(answer.name for answer in before if answer.verdict is Verdict.VIOLATED)
    weaker = [
        WeakerOrder(place, order, _asked(program, place, order, names, options, unrolled), failing)
        for place in strong_places(program)
        if line is None or place.span.line == line
        for order in weaker_orders(place)
    ]
    return NeededOrders(program, tuple(names), before, tuple(weaker))


def strong_places(program: Program) -> tuple[OrderPlace, ...]:
    """The places of the text that could be weaker."""
    places = every_place(program)
    own = (p for p in places if p.span.source is program.source or may_be_edited(program, p.span.source))
    return tuple(p for p in own if strengths_of(p.kind, p.order))


def weaker_orders(place: OrderPlace) -> Iterator[MemoryOrder]:
    """The strongest orders below that of the place. A relaxed fence is none."""
    held = strengths_of(place.kind, place.order)
    if "seq_cst" in held:
        yield order_with(held - {"seq_cst"})
        return
    for strength in sorted(held):
        yield order_with(held - {strength})


def _asked(
    program: Program,
    place: OrderPlace,
    order: MemoryOrder,
    names: Sequence[str],
    options: CheckOptions,
    unrolled: int | None,
) -> tuple[ModelAnswer, ...]:
    return check_models(weakened(program, place, order), names, options.afresh(), unrolled=unrolled).answers


def weakened(program: Program, place: OrderPlace, order: MemoryOrder) -> Program:
    """`program` with another order at the place."""
    processes = []
    for p, process in enumerate(program.processes):
        steps = (
            replace(step, ops=tuple(_with(op, (p, t, o), place, order) for o, op in enumerate(step.ops)))
            for t, step in enumerate(process.transitions)
        )
        processes.append(replace(process, transitions=tuple(steps)))
    return replace(program, processes=tuple(processes))


def _with(op: Op, number: OpNumber, place: OrderPlace, order: MemoryOrder) -> Op:
    if number not in place.ops:
        return op
    if isinstance(op, Rmw) and _is_stronger(op.failure_order, order.of_read):
        return replace(op, order=order, failure_order=order.of_read)
    return with_order(op, order)


def _is_stronger(order: MemoryOrder, other: MemoryOrder) -> bool:
    """Whether one of the orders of reads has more than the other."""
    mine: frozenset[Strength] = strengths_of("load", order)
    return not mine <= strengths_of("load", other)
