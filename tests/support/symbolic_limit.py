"""What the symbolic engine must agree with: the limit of the explicit engine for growing buffer bounds."""

from __future__ import annotations

from dataclasses import dataclass

from memfence.engines.native.explicit import explore
from memfence.models.spec import ModelSpec
from memfence.program.ir import Program
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import Safety
from support.models import spec

JUST_EXPLORE = Safety(failures=False)
LARGEST_BOUND, STABLE_ROUNDS, MOST_STATES = 8, 3, 150_000

Locations = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """Location tuples seen with bound `bound`.

    `is_stable`: growing the bound three times added nothing, or no store was refused.
    """

    locations: frozenset[Locations]
    bound: int
    is_stable: bool


def explicit_limit(program: Program, model: ModelSpec | str) -> Limit:
    """Grow the bound until the set of reachable location tuples stops growing."""
    before: frozenset[Locations] = frozenset()
    stable = 0
    for bound in range(1, LARGEST_BOUND + 1):
        explored = explore(program, spec(model, bound), JUST_EXPLORE, limits=Limits(timeout_seconds=60))
        if explored.stop is not Stop.NOTHING_LEFT or explored.cost.states > MOST_STATES:
            return Limit(before, bound, False)
        slots = explored._encoded.slots.locations
        seen = frozenset(tuple(values[slot] for slot in slots) for values in explored._native.all_values())
        stable = stable + 1 if seen == before else 0
        before = seen
        if explored.complete or stable == STABLE_ROUNDS:
            return Limit(seen, bound, True)
    return Limit(before, LARGEST_BOUND, stable > 0)
