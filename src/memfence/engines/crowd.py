"""The engine for any number of threads: the dual semantics over multisets of process parts."""

from __future__ import annotations

from memfence.engines.native.crowd import explore_crowd, unsupported
from memfence.models.buffering import Buffering
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import AnyNumber, Limit, Route, Run
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety, Task


class CrowdEngine:
    """Safety under SC and TSO of programs in which some templates have any number of instances.

    A run is one of the program with as many instances as it needs.
    """

    name = "any number"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not task.program.any_number:
            return Obstacle.FIXED_NUMBER
        if not isinstance(task.goal, Safety):
            return Obstacle.OTHER_GOAL
        if task.model.buffering is Buffering.PER_VARIABLE:
            return Obstacle.ONLY_TSO
        if task.model.is_bounded:
            return Obstacle.ANY_BOUND
        return unsupported(task.program, task.goal, task.model)

    def answer(self, task: Task) -> Answer:
        assert isinstance(task.goal, Safety)
        found = explore_crowd(task.program, task.goal, task.model, limits=task.limits, reductions=task.reductions)
        counts = (("parts", found.parts),)
        if found.finding is not None:
            run = Run(found.trace(), found.finding, Route.BACKWARD_ONLY)
            return Answer(Verdict.VIOLATED, run, self.name, found.cost, counts)
        if found.complete:
            proof = AnyNumber(task.program.any_number, task.model, found.parts)
            return Answer(Verdict.HOLDS, proof, self.name, found.cost, counts)
        return Answer(Verdict.UNKNOWN, Limit(found.stop, found.cost.states), self.name, found.cost, counts)
