"""Runs in which only two processes move: many errors of programs with more need no others, and are found at once so.

A process that stays at its start is no restriction on what the others may do, so such a run is a run of the program.
Finding none is inconclusive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from memfence.engines.iterative_deepening import deepening
from memfence.engines.native.explicit import Explored, explore
from memfence.execution.trace import Trace
from memfence.passes.shared_memory_form import other_communication
from memfence.program.ir import Program
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import CounterexampleRun, Limit, Route
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety, Task

MOST_PENDING = 4
MOST_PAIRS = 28


class TwoProcessesEngine:
    """Finds runs, proves nothing. The limits of the task hold for each pair."""

    name = "two processes"

    def obstacle(self, task: Task) -> Obstacle | None:
        """A process that does not move looks as if it had halted, so deadlocks and final states are another matter."""
        if not isinstance(task.goal, Safety):
            return Obstacle.OTHER_GOAL
        if task.spec.is_bounded:
            return Obstacle.BOUND_GIVEN
        if len(task.program.processes) <= 2:
            return Obstacle.TWO_PROCESSES_ARE_ALL
        if other_communication(task.program) is not None:
            return Obstacle.OTHER_COMMUNICATION
        if task.goal.final_values:
            return Obstacle.LISTS_FINAL_STATES
        return Obstacle.ASKS_FOR_DEADLOCK if task.goal.deadlock else None

    def answer(self, task: Task) -> Answer:
        assert isinstance(task.goal, Safety)
        cost, stop = Cost(), Stop.NOTHING_LEFT
        for model in deepening(task.spec, MOST_PENDING):
            for pair in _pairs(task.program):
                alone = _only(task.program, pair)
                found = explore(alone, model, task.goal, limits=task.limits, reductions=task.reductions)
                cost += found.cost
                if found.finding is not None:
                    run = CounterexampleRun(_in_whole(task.program, found), found.finding, Route.TWO_PROCESSES)
                    return Answer(Verdict.VIOLATED, run, "explicit", cost)
                stop = found.stop
                if stop not in (Stop.NOTHING_LEFT, Stop.STATES):
                    return Answer(Verdict.UNKNOWN, Limit(stop, cost.states), "explicit", cost)
        return Answer(Verdict.UNKNOWN, Limit(Stop.STATES, cost.states), "explicit", cost)


def _in_whole(program: Program, found: Explored) -> Trace:
    """The run of `found` as one of the program that the pair was taken from."""
    trace = found.trace()
    start = replace(trace.start, buffers=trace.memory_model.empty_buffers(program))
    return Trace(program, trace.memory_model, start, [taken.step for taken in trace.steps])


def _pairs(program: Program) -> Iterator[tuple[int, int]]:
    for number, pair in enumerate(combinations(range(len(program.processes)), 2)):
        if number == MOST_PAIRS:
            return
        yield pair


def _only(program: Program, moving: tuple[int, ...]) -> Program:
    processes = tuple(p if n in moving else replace(p, transitions=()) for n, p in enumerate(program.processes))
    return replace(program, processes=processes)
