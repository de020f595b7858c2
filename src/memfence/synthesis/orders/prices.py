"""What the edits of a choice of stronger orders cost, by the figures of `models.catalogue`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memfence.models.catalogue import COSTS_OF_OTHERS, OrderCosts, model_of
from memfence.program.facts.loop_depth import loop_levels
from memfence.program.ir import Program
from memfence.synthesis.options import COST_OF_A_LOOP, MOST_LEVELS, Minimise
from memfence.synthesis.orders.places import OpNumber, OrderEdit, OrderPlace
from memfence.synthesis.orders.strengths import Kind, Strength

Costs = Mapping[tuple[Kind, Strength], int]
"""What the strength adds at a place of this kind."""


def order_costs(name: str) -> OrderCosts:
    """The figures of the model."""
    model = model_of(name)
    return COSTS_OF_OTHERS if model is None else model.costs


def prices_of(
    program: Program,
    places: Sequence[OrderPlace],
    edits: Sequence[OrderEdit],
    models: Iterable[str],
    minimise: Minimise,
) -> tuple[list[int], list[int]]:
    """The price of each edit and of changing each place: fewest places first, or least cost first, then the other."""
    costs = [order_costs(model) for model in dict.fromkeys(models)]
    levels = [loop_levels(process) for process in program.processes]
    return prices_with(costs, [loop_factor(levels, place.ops) for place in places], places, edits, minimise)


def prices_with(
    costs: Iterable[OrderCosts],
    factors: Sequence[int],
    places: Sequence[OrderPlace],
    edits: Sequence[OrderEdit],
    minimise: Minimise,
) -> tuple[list[int], list[int]]:
    """The same, by the `costs` of each model; `factors`: how much the loops around each place make of it."""
    tables = [costs_of_strengths(one) for one in costs]
    plain = [
        factors[edit.place] * (1 + 2 * sum(table[places[edit.place].kind, edit.strength] for table in tables))
        for edit in edits
    ]
    if minimise == "cost":
        scale = len(places) + 1
        return [price * scale for price in plain], [1] * len(places)
    return plain, [1 + sum(plain)] * len(places)


def costs_of_strengths(cost: OrderCosts) -> Costs:
    """What each strength adds where it can be."""
    fences: dict[tuple[Kind, Strength], int] = {}
    for kind in ("fence", "new fence"):
        fences |= {(kind, "acquire"): cost.fence, (kind, "release"): cost.fence, (kind, "seq_cst"): cost.full_fence}
    return fences | {
        ("load", "acquire"): cost.access, ("load", "seq_cst"): cost.load,
        ("store", "release"): cost.access, ("store", "seq_cst"): cost.store,
        ("rmw", "acquire"): cost.access, ("rmw", "release"): cost.access, ("rmw", "seq_cst"): cost.access,
    }  # fmt: skip


def loop_factor(levels: Sequence[Sequence[int]], ops: Iterable[OpNumber]) -> int:
    """More for what stands in loops; `levels`: of each process, those of its transitions."""
    depth = min(max((levels[p][t] for p, t, _ in ops), default=0), MOST_LEVELS)
    factor: int = COST_OF_A_LOOP**depth
    return factor
