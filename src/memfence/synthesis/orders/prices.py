"""What the edits of a choice of stronger orders cost, by the figures of `models.catalogue`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memfence.models.catalogue import COSTS_OF_OTHERS, model_of
from memfence.program.facts.loop_depth import loop_levels
from memfence.program.ir import Program
from memfence.synthesis.options import COST_OF_A_LOOP, MOST_LEVELS, Minimise
from memfence.synthesis.orders.places import OrderEdit, OrderPlace
from memfence.synthesis.orders.strengths import Kind, Strength

Costs = Mapping[tuple[Kind, Strength], int]
"""What the strength adds at a place of this kind."""


def prices_of(
    program: Program,
    places: Sequence[OrderPlace],
    edits: Sequence[OrderEdit],
    models: Iterable[str],
    minimise: Minimise,
) -> tuple[list[int], list[int]]:
    """The price of each edit and of changing each place: fewest places first, or least cost first, then the other."""
    costs = [_costs_of(model) for model in dict.fromkeys(models)]
    factors = [_factor(program, place) for place in places]
    plain = [
        factors[edit.place] * (1 + 2 * sum(table[places[edit.place].kind, edit.strength] for table in costs))
        for edit in edits
    ]
    if minimise == "cost":
        scale = len(places) + 1
        return [price * scale for price in plain], [1] * len(places)
    return plain, [1 + sum(plain)] * len(places)


def _costs_of(name: str) -> Costs:
    model = model_of(name)
    cost = COSTS_OF_OTHERS if model is None else model.costs
    fences: dict[tuple[Kind, Strength], int] = {}
    for kind in ("fence", "new fence"):
        fences |= {(kind, "acquire"): cost.fence, (kind, "release"): cost.fence, (kind, "seq_cst"): cost.full_fence}
    return fences | {
        ("load", "acquire"): cost.access, ("load", "seq_cst"): cost.load,
        ("store", "release"): cost.access, ("store", "seq_cst"): cost.store,
        ("rmw", "acquire"): cost.access, ("rmw", "release"): cost.access, ("rmw", "seq_cst"): cost.access,
    }  # fmt: skip


def _factor(program: Program, place: OrderPlace) -> int:
    """More for what stands in loops."""
    levels = [loop_levels(process) for process in program.processes]
    depth = min(max(levels[p][t] for p, t, _ in place.ops), MOST_LEVELS)
    factor: int = COST_OF_A_LOOP**depth
    return factor
