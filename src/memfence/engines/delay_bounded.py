"""Delay-bounded search (Emmi, Qadeer and Rakamaric 2011): runs in which processes rarely interrupt each other.

Asked when exhaustive search does not finish. It never proves anything, but it reaches deep errors that a search of all
runs does not come to, and where it finds none it says how far it has looked.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.engines.iterative_deepening import deepening
from memfence.engines.native.explicit import Explored, explore
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import CounterexampleRun, DelayBound, Evidence, Limit, Route
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety, Task

MOST_DELAYS = 12
MOST_PENDING = 4


class DelayBoundedEngine:
    """Safety under any model, for growing numbers of delays; see `passes.delay_bounding`."""

    name = "delay-bounded"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not isinstance(task.goal, Safety):
            return Obstacle.OTHER_GOAL
        if task.goal.final_values:
            return Obstacle.LISTS_FINAL_STATES
        processes = task.program.processes
        if any(t.sync for p in processes for t in p.transitions):
            return Obstacle.CHANNEL
        if any(location.committed for p in processes for location in p.locations):
            return Obstacle.COMMITTED_LOCATION
        return Obstacle.RUNS_GO_ON_AFTER_ERRORS if task.program.error_locations is not None else None

    def answer(self, task: Task) -> Answer:
        cost = Cost()
        answer: Answer | None = None
        for most in range(MOST_DELAYS + 1):
            explored = self._explored(task, most)
            cost += explored.cost
            if explored.finding is not None:
                run: Evidence = CounterexampleRun(explored.trace(), explored.finding, Route.DELAY_BOUNDED)
                return Answer(Verdict.VIOLATED, run, self.name, cost)
            if explored.stop is not Stop.NOTHING_LEFT:
                return answer or self._cut_off(explored, cost)
            answer = Answer(Verdict.HOLDS_UP_TO, _looked_at(explored, most), self.name, cost)
        assert answer is not None
        return answer

    def _cut_off(self, explored: Explored, cost: Cost) -> Answer:
        """Not even the runs without delay came to an end: what can be said is how many steps of them were seen."""
        steps = explored.cost.depth - 1
        if explored.stop is Stop.CANCELLED or steps < 1:
            return Answer(Verdict.UNKNOWN, Limit(explored.stop, cost.states), self.name, cost)
        seen = replace(_looked_at(explored, 0), steps=steps)
        return Answer(Verdict.HOLDS_UP_TO, seen, self.name, cost)

    def _explored(self, task: Task, most: int) -> Explored:
        """The last of the searches with growing buffers."""
        assert isinstance(task.goal, Safety)
        for model in deepening(task.spec, MOST_PENDING):
            explored = explore(
                task.program,
                model,
                task.goal,
                limits=task.limits,
                reductions=task.reductions,
                delays=most,
            )
            if explored.stop is not Stop.NOTHING_LEFT or explored.refused == 0:
                break
        return explored


def _looked_at(explored: Explored, most: int) -> DelayBound:
    return DelayBound(most, explored.model.bound if explored.refused else None)
