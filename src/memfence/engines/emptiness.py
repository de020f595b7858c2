"""Temporal goals: is some infinite run accepted by an automaton? Under SC exactly, else for bounded buffers."""

from __future__ import annotations

from dataclasses import replace

from memfence.engines.native.emptiness import find_accepted_run
from memfence.models.fairness import Fairness, fairness_among
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import Bound, Exhausted, Limit
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import NoAcceptedRun, Task

FEWEST_THREADS = 6
"""Elimination visits every state and arc about five times (measured: 8.0 s of processor time, 1.4 s in depth): fewer
threads than that would take longer together than one alone."""


class EmptinessEngine:
    """The product of the program with a generalised Büchi automaton, checked for emptiness."""

    name = "buchi"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not isinstance(task.goal, NoAcceptedRun):
            return Obstacle.OTHER_GOAL
        return None if task.spec.is_bounded or not task.spec.has_buffers else Obstacle.NO_BOUND

    def answer(self, task: Task) -> Answer:
        assert isinstance(task.goal, NoAcceptedRun)
        if task.limits.asked_threads >= FEWEST_THREADS and fairness_among(task.goal.conditions) is not Fairness.STRONG:
            return self._shared(task)
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

    def _shared(self, task: Task) -> Answer:
        """By elimination (OWCTY), which threads can share; a search in depth cannot be shared."""
        from memfence.cluster.threads import Threads  # few ask for it
        from memfence.engines.cluster.engine import ClusterEngine

        threads = Threads(task.limits.asked_threads)
        answer = ClusterEngine(connect=threads.connect).answer(task.within(cluster="threads"))
        return replace(answer, engine=self.name)
