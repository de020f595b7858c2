"""Executions that go wrong, by looking at every one: `engines.native.graphs`.

A race ends the search, since what follows from it does not matter. The executions are then looked at once more, with
plain reads that see whatever the model's text lets them see: a check that fails says more than the race behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memfence.axiomatic.code import Code
from memfence.axiomatic.execution import Execution
from memfence.axiomatic.model import AxiomaticModel
from memfence.engines.axiomatic.goals import Ends, Fails, Goal, Raises, WaitsForEver
from memfence.engines.axiomatic.violations import RACE, Violation, goal_of
from memfence.engines.axiomatic.witness import WitnessRefused, witness
from memfence.engines.native.graphs import ENDS, FAILS, MAY_WAIT, RACES, WAITS, Asked, Explored, GraphCode, Wrong
from memfence.program.ir import Property
from memfence.tasks.limits import Limits, Stop

BEHIND_RACES = 200_000
"""Events of the second look: if a check fails behind a race, it does so soon."""
MOST_WAYS = 64
"""Of the reads that wait in an execution, and may have seen one write or another."""


class ByGraphs:
    """Looks at one execution after the other. `most_events`: gives up after so many; 0: any."""

    def __init__(self, most_events: int = 0) -> None:
        self.most_events = most_events
        self._may_wait = False

    def first_violation(
        self, code: Code, model: AxiomaticModel, properties: Sequence[Property], limits: Limits, *, dependencies: bool
    ) -> Violation | Stop | bool:
        goals = [(prop, goal_of(prop)) for prop in properties]
        ends = [(prop, goal) for prop, goal in goals if isinstance(goal, Ends)]
        waits = next((prop for prop, goal in goals if isinstance(goal, WaitsForEver)), None)
        asked = Asked(
            bad=tuple(goal.condition for _, goal in ends), waits=waits is not None, most_events=self.most_events
        )
        graphs = GraphCode(code, model)
        found = graphs.explore(asked, limits)
        if found.of(RACES) is not None:
            again = replace(asked, waits=False, races_branch=True, most_events=BEHIND_RACES)
            found = _first_of(graphs.explore(again, limits), found)
        self._may_wait = found.of(MAY_WAIT) is not None
        looked_for: dict[int, list[tuple[Property | None, Goal]]] = {
            FAILS: [(None, Fails())],
            ENDS: list(ends),
            RACES: [(None, Raises(RACE))],
            WAITS: [(waits, WaitsForEver())],
        }
        for what, wanted in looked_for.items():
            wrong = found.of(what)
            if wrong is not None:
                prop, goal = wanted[wrong.condition]
                return Violation(_shown(code, wrong, goal, model), prop, isinstance(goal, Raises))
        return found.counts.cut > 0 if found.stop is Stop.NOTHING_LEFT else found.stop

    def may_wait(self, code: Code, model: AxiomaticModel, limits: Limits, *, dependencies: bool) -> bool:
        return self._may_wait


def _first_of(behind: Explored, race: Explored) -> Explored:
    return behind if behind.of(FAILS) is not None or behind.of(ENDS) is not None else race


def _shown(code: Code, wrong: Wrong, goal: Goal, model: AxiomaticModel) -> Execution:
    """The execution, carried out and judged; of the writes that waiting reads may have seen, the first that will do."""
    refused: WitnessRefused | None = None
    for _, decisions in zip(range(MOST_WAYS), wrong.found.ways(), strict=False):
        try:
            return witness(code, decisions, goal, model)
        except WitnessRefused as error:
            refused = refused or error
    raise refused or WitnessRefused(f"{goal} without an execution")
