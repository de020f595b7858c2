"""What the orders, fences and read-modify-writes of a program cost, each place of the text once.

The figures are those by which `fix --minimise cost` chooses (`models.catalogue`): beside a relaxed access, which is
free. What stands in a loop counts as often as there. Locks of libraries are not looked into.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memfence.models.catalogue import OrderCosts, is_x86
from memfence.program.facts.loop_depth import loop_levels
from memfence.program.ir import Fence, Program, Rmw, Store, Transition
from memfence.source import Span
from memfence.synthesis.options import DEFAULT_COSTS
from memfence.synthesis.orders.places import OpNumber, OrderPlace, every_place
from memfence.synthesis.orders.prices import costs_of_strengths, loop_factor
from memfence.synthesis.orders.strengths import strengths_of

INSTRUCTIONS = {"mfence": DEFAULT_COSTS["mfence"], "sfence": DEFAULT_COSTS["sfence"]}
"""Fences of x86 itself."""


def price_of_text(program: Program, model: str, costs: OrderCosts) -> int:
    """What one way through every place of the text costs under the model."""
    levels = [loop_levels(process) for process in program.processes]
    places = every_place(program)
    orders = sum(loop_factor(levels, place.ops) * price_of_place(place, costs) for place in places)
    known = frozenset(op for place in places for op in place.ops)
    others = _instructions(program, known, levels) if is_x86(model) else ()
    return orders + sum(others)


def price_of_place(place: OrderPlace, costs: OrderCosts) -> int:
    """What the place costs beside a relaxed access."""
    table = costs_of_strengths(costs)
    update = costs.update if place.kind == "rmw" else 0
    return update + sum(table[place.kind, strength] for strength in strengths_of(place.kind, place.order))


def _instructions(program: Program, known: frozenset[OpNumber], levels: Sequence[Sequence[int]]) -> Iterator[int]:
    """The prices of x86's own fences and of locked steps without an order, each place of the text once."""
    seen: dict[tuple[Span, str], int] = {}
    for p, process in enumerate(program.processes):
        for t, step in enumerate(process.transitions):
            numbers = [(p, t, o) for o in range(len(step.ops))]
            if any(number in known for number in numbers):
                continue
            kinds = [op.kind for op in step.ops if isinstance(op, Fence) and op.kind in INSTRUCTIONS]
            cost = DEFAULT_COSTS["locked"] if _is_locked(program, step) else sum(INSTRUCTIONS[kind] for kind in kinds)
            key = (step.span, process.template)
            price = cost * loop_factor(levels, numbers[:1])
            if price > seen.get(key, 0):
                seen[key] = price
    yield from seen.values()


def _is_locked(program: Program, step: Transition) -> bool:
    """Whether the user wrote a locked instruction there: in C, others belong to locks and threads."""
    if step.is_update or any(isinstance(op, Rmw) for op in step.ops):
        return True
    return program.language != "c" and step.locked and any(isinstance(op, Store) for op in step.ops)
