"""What stronger orders cost, model by model: rough figures of one execution, in the units of `fix --costs`.

Acquire and release are free on x86, where only a seq_cst store (a locked exchange) and a seq_cst fence cost something.
On ARMv8 acquire loads and release stores wait a little, a barrier much longer. For C11 itself there is no processor:
its figures say that a weaker order is better than a stronger one, and an order better than a fence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memfence.models.spec import SPECS
from memfence.program.facts.loop_depth import loop_levels
from memfence.program.ir import Program
from memfence.synthesis.options import COST_OF_A_LOOP, MOST_LEVELS, Minimise
from memfence.synthesis.orders.places import OrderEdit, OrderPlace
from memfence.synthesis.orders.strengths import Kind, Strength

Costs = Mapping[tuple[Kind, Strength], int]
"""What the strength adds at a place of this kind."""


def _costs(access: int, store: int, load: int, fence: int, full_fence: int) -> Costs:
    fences: dict[tuple[Kind, Strength], int] = {}
    for kind in ("fence", "new fence"):
        fences |= {(kind, "acquire"): fence, (kind, "release"): fence, (kind, "seq_cst"): full_fence}
    return fences | {
        ("load", "acquire"): access, ("load", "seq_cst"): load,
        ("store", "release"): access, ("store", "seq_cst"): store,
        ("rmw", "acquire"): access, ("rmw", "release"): access, ("rmw", "seq_cst"): access,
    }  # fmt: skip


COSTS_OF_MODEL: Mapping[str, Costs] = {
    "x86": _costs(access=0, store=10, load=0, fence=0, full_fence=10),
    "armv8": _costs(access=2, store=1, load=1, fence=5, full_fence=5),
    "rc11": _costs(access=1, store=2, load=2, fence=2, full_fence=4),
}
"""Models with store buffers cost what x86 does, others that are not here what C11 does."""


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


def _costs_of(model: str) -> Costs:
    return COSTS_OF_MODEL.get("x86" if model in SPECS else model, COSTS_OF_MODEL["rc11"])


def _factor(program: Program, place: OrderPlace) -> int:
    """More for what stands in loops."""
    levels = [loop_levels(process) for process in program.processes]
    depth = min(max(levels[p][t] for p, t, _ in place.ops), MOST_LEVELS)
    factor: int = COST_OF_A_LOOP**depth
    return factor
