"""The explicit engine: every state, one by one, with growing bounds on the buffers.

Shortest bugs come first. A bound at which no store had to wait is a proof for unbounded buffers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from memfence.engines.iterative_deepening import deepening
from memfence.engines.native.explicit import Explored, FinalValues, explore
from memfence.execution.trace import Trace
from memfence.tasks.answer import Answer, FinalState, Verdict
from memfence.tasks.evidence import Bound, CounterexampleRun, Evidence, Exhausted, Limit
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety, Task


class ExplicitEngine:
    """Safety under any model: the bound that the task gives, else growing ones until nothing has to wait."""

    name = "explicit"

    def obstacle(self, task: Task) -> Obstacle | None:
        return None if isinstance(task.goal, Safety) else Obstacle.OTHER_GOAL

    def answer(self, task: Task) -> Answer:
        assert isinstance(task.goal, Safety)
        cost = Cost()
        for model in deepening(task.spec):
            explored = explore(task.program, model, task.goal, limits=task.limits, reductions=task.reductions)
            cost += explored.cost
            if explored.stop is not Stop.NOTHING_LEFT or explored.refused == 0:
                break
        return answer_of(explored, cost)


def answer_of(explored: Explored, cost: Cost) -> Answer:
    """What one search says, having cost as much as all before it."""
    verdict, evidence = _judged(explored, cost)
    finals = tuple(_final_state(explored.trace_to, state) for state in explored.final_states)
    taken = explored.taken if verdict is Verdict.HOLDS else None
    return Answer(verdict, evidence, ExplicitEngine.name, cost, final_states=finals, taken=taken)


def _judged(explored: Explored, cost: Cost) -> tuple[Verdict, Evidence]:
    model = explored.model
    if explored.finding is not None:
        return Verdict.VIOLATED, CounterexampleRun(explored.trace(), explored.finding)
    if explored.stop is not Stop.NOTHING_LEFT:
        return Verdict.UNKNOWN, Limit(explored.stop, cost.states)
    if explored.refused:
        return Verdict.HOLDS_UP_TO, Bound(model)
    return Verdict.HOLDS, Exhausted(model.unbounded, model.bound)


def _final_state(trace_to: Callable[[int], Trace], state: FinalValues) -> FinalState:
    return FinalState(state.values, state.count, partial(trace_to, state.index))
