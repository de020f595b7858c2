"""The Dual-TSO engine: TSO with unbounded buffers by backward search, which always ends, given time."""

from __future__ import annotations

from memfence.engines.bounded_witness import find_bounded_witness
from memfence.engines.native.dual import DualResult, explore_dual, unsupported
from memfence.models.buffering import Buffering
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import Closure, CounterexampleRun, Fixpoint, Limit, Route
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety, Task

SHORTEST_RUN = 2_000_000
"""States in which a shortest run is looked for, when the backward search has found a longer one."""


class DualEngine:
    """Safety under TSO, for properties of locations and registers."""

    name = "dual"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not isinstance(task.goal, Safety):
            return Obstacle.OTHER_GOAL
        if task.spec.buffering is not Buffering.PER_PROCESS:
            return Obstacle.ONLY_TSO
        if task.spec.is_bounded:
            return Obstacle.ANY_BOUND
        return unsupported(task.program, task.goal)

    def answer(self, task: Task) -> Answer:
        assert isinstance(task.goal, Safety)
        found = explore_dual(task.program, task.goal, limits=task.limits, reductions=task.reductions)
        if found.found:
            return Answer(Verdict.VIOLATED, _run(task, found), self.name, found.cost)
        if found.complete:
            return Answer(Verdict.HOLDS, Fixpoint(Closure.DUAL), self.name, found.cost)
        return Answer(Verdict.UNKNOWN, Limit(found.stop, found.cost.states), self.name, found.cost)


def _run(task: Task, found: DualResult) -> CounterexampleRun:
    assert found.finding is not None
    shortest = find_bounded_witness(task.within(most_states=SHORTEST_RUN, timeout_seconds=None))
    if shortest is not None:
        return CounterexampleRun(shortest, found.finding, Route.BACKWARD)
    return CounterexampleRun(found.trace(), found.finding, Route.BACKWARD_ONLY)
