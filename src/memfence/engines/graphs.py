"""Executions as graphs, one by one; and what is usual: so as long as there are few, else by a solver."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.deadline import Deadline
from memfence.engines.axiomatic.by_graphs import ByGraphs
from memfence.engines.axiomatic.deepening import decide
from memfence.engines.axiomatic.searches import BySolver, Search
from memfence.tasks.answer import Answer, outside
from memfence.tasks.limits import Cost
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import GoodExecutions, Task

FEW = 1_000_000
"""Events, in all executions of one unrolling: a second or two. A solver that needs that long needs longer."""


class GraphsEngine:
    """Every execution graph that the model allows, however many there are."""

    name = "graphs"

    def searches(self, task: Task) -> Sequence[Search]:
        return (ByGraphs(task.limits.most_states),)

    def obstacle(self, task: Task) -> Obstacle | None:
        return None if isinstance(task.goal, GoodExecutions) else Obstacle.OTHER_GOAL

    def answer(self, task: Task) -> Answer:
        if not isinstance(task.goal, GoodExecutions):
            return outside(self.name, Obstacle.OTHER_GOAL)
        clock = Deadline()
        return Answer(*decide(task, task.goal, self.searches(task)), self.name, Cost(seconds=clock.elapsed))


class ExecutionsEngine(GraphsEngine):
    """One by one while there are few, else by a solver; so for each unrolling."""

    name = "executions"

    def searches(self, task: Task) -> Sequence[Search]:
        return ByGraphs(FEW), BySolver()
