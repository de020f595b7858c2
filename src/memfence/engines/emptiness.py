"""Temporal goals: is some infinite run accepted by an automaton? Under SC exactly, else for bounded buffers."""

from __future__ import annotations

from memfence.engines.native.emptiness import find_accepted_run
from memfence.models.fairness import fairness_among
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import Bound, Exhausted, Limit
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import NoAcceptedRun, Task


class EmptinessEngine:
    """The product of the program with a generalised Büchi automaton, checked for emptiness."""

    name = "buchi"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not isinstance(task.goal, NoAcceptedRun):
            return Obstacle.OTHER_GOAL
        return None if task.spec.is_bounded or not task.spec.has_buffers else Obstacle.NO_BOUND

    def answer(self, task: Task) -> Answer:
        assert isinstance(task.goal, NoAcceptedRun)
        found = find_accepted_run(task.program, task.spec, task.goal, limits=task.limits, reductions=task.reductions)
        fair = fairness_among(task.goal.conditions)
        if found.lasso is not None:
            return Answer(Verdict.VIOLATED, found.lasso, self.name, found.cost)
        if not found.complete:
            return Answer(Verdict.UNKNOWN, Limit(found.stop, found.cost.states), self.name, found.cost)
        if found.refused:
            return Answer(Verdict.HOLDS_UP_TO, Bound(task.spec, fair), self.name, found.cost)
        evidence = Exhausted(task.spec.unbounded, task.spec.bound, fair)
        return Answer(Verdict.HOLDS, evidence, self.name, found.cost)
