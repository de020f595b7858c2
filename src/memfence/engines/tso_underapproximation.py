"""PSO by way of TSO: a run in which stores commit in their order is a run of PSO, too, and there are fewer of them.

Finding none is inconclusive.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.engines.dual import DualEngine
from memfence.engines.explicit import ExplicitEngine
from memfence.engines.two_processes import TwoProcessesEngine
from memfence.execution.trace import Trace, UnreplayableWitness
from memfence.models.spec import TSO
from memfence.models.state import Commit, Step
from memfence.program.facts.effects import stored_variables
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import CounterexampleRun, Limit, Route
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety, Task

ASKED = (ExplicitEngine(), TwoProcessesEngine(), DualEngine())


class TsoUnderapproximationEngine:
    """Finds runs, proves nothing. The limits of the task hold for each engine that is asked about TSO."""

    name = "TSO under-approximation"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not isinstance(task.goal, Safety):
            return Obstacle.OTHER_GOAL
        if not task.spec.reorders_stores:
            return Obstacle.STORES_KEEP_ORDER
        if task.spec.is_bounded:
            return Obstacle.BOUND_GIVEN
        if task.goal.final_values:
            return Obstacle.LISTS_FINAL_STATES
        return Obstacle.ASKS_FOR_DEADLOCK if task.goal.deadlock else None

    def answer(self, task: Task) -> Answer:
        under_tso = replace(task, model=TSO)
        cost = Cost()
        for engine in ASKED:
            if engine.obstacle(under_tso) is not None:
                continue
            found = engine.answer(under_tso)
            cost += found.cost
            if isinstance(found.evidence, CounterexampleRun):
                trace = with_own_buffers(found.evidence.trace, task)
                if trace is not None:
                    run = replace(found.evidence, trace=trace, route=Route.TSO_UNDERAPPROXIMATION, is_shortest=False)
                    return Answer(Verdict.VIOLATED, run, found.engine, cost)
            if found.is_interrupted or task.is_over:
                break
        return Answer(Verdict.UNKNOWN, Limit(Stop.STATES, cost.states), self.name, cost)


def with_own_buffers(trace: Trace, task: Task) -> Trace | None:
    """The run of TSO as one of PSO; None where an order of C or a store fence means something else there."""
    model = task.spec.definition
    steps: list[Step] = []
    for position, taken in enumerate(trace.steps):
        step = taken.step
        if isinstance(step, Commit):
            entry = trace.state_before(position).buffers[step.process][0][0]
            assert entry is not None
            step = Commit(step.process, stored_variables(task.program.processes[step.process]).index(entry[0]))
        steps.append(step)
    start = replace(trace.start, buffers=model.empty_buffers(task.program))
    try:
        return Trace(task.program, model, start, steps)
    except UnreplayableWitness:
        return None
