"""The engine for any number of threads: the dual semantics over multisets of process parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from memfence.engines.native.parameterised import explore_parameterised, unsupported
from memfence.execution.trace import Trace, UnreplayableWitness
from memfence.models.buffering import Buffering
from memfence.passes.small_counters import has_counters, with_small_counters
from memfence.program.ir import Program
from memfence.program.parameterised import instances_of, resized, without_waits
from memfence.tasks.answer import Answer, Verdict, outside
from memfence.tasks.evidence import BadState, CounterexampleRun, Finding, Limit, Parameterised, Route
from memfence.tasks.limits import Cost
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety, Task

MOST_COUNTED = (2, 5, 10)
"""Counters are taken to stay below this, then that."""


class ParameterisedEngine:
    """Safety under SC and TSO of programs in which some templates have any number of instances.

    A run is one of the program with as many instances as it needs.
    """

    name = "any number"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not task.program.any_number:
            return Obstacle.FIXED_NUMBER
        if not isinstance(task.goal, Safety):
            return Obstacle.OTHER_GOAL
        match task.spec.buffering:
            case Buffering.NOWHERE | Buffering.PER_PROCESS:
                pass
            case Buffering.PER_VARIABLE:
                return Obstacle.ONLY_TSO
            case _:
                assert_never(task.spec.buffering)
        if task.spec.is_bounded:
            return Obstacle.ANY_BOUND
        return unsupported(without_waits(task.program), task.goal, task.spec)

    def answer(self, task: Task) -> Answer:
        assert isinstance(task.goal, Safety)
        answer = outside(self.name, Obstacle.ONLY_MORE)
        cost = Cost()
        for program in _searched(task.program):
            answer = self._about(task, program, is_exact=program is task.program)
            cost += answer.cost
            if answer.is_conclusive or task.is_over:
                break
        return answer.costing(cost)

    def _about(self, task: Task, program: Program, *, is_exact: bool) -> Answer:
        """The answer about `program`, which does whatever that of the task can, or fails; its runs may be its own."""
        assert isinstance(task.goal, Safety)
        found = explore_parameterised(program, task.goal, task.spec, limits=task.limits, reductions=task.reductions)
        counts = (("parts", found.parts),)
        if found.finding is not None:
            trace: Trace | None = found.trace()
            if trace is not None and not is_exact:
                trace = _really(task.program, trace, found.finding)
            if trace is None:
                return replace(outside(self.name, Obstacle.ONLY_MORE), cost=found.cost, counts=counts)
            run = CounterexampleRun(trace, found.finding, Route.BACKWARD_ONLY)
            return Answer(Verdict.VIOLATED, run, self.name, found.cost, counts)
        if found.complete:
            proof = Parameterised(program.any_number, task.spec, found.parts)
            return Answer(Verdict.HOLDS, proof, self.name, found.cost, counts)
        return Answer(Verdict.UNKNOWN, Limit(found.stop, found.cost.states), self.name, found.cost, counts)


def _really(program: Program, trace: Trace, finding: Finding) -> Trace | None:
    """The run of a looser program as one of `program`, where it is one and shows the same."""
    whole = resized(program, {t: len(instances_of(trace.program, t)) for t in program.any_number}).program
    try:
        found = Trace(whole, trace.memory_model, trace.start, [taken.step for taken in trace.steps])
    except UnreplayableWitness:
        return None
    return found if isinstance(finding, BadState) or found.failure is not None else None


def _searched(program: Program) -> Iterator[Program]:
    """The programs to search, one after the other, until one is proved or has a run that counts.

    Counters would have too many values: that they stay small is proved along with the rest.
    """
    loose = without_waits(program)
    if not has_counters(loose):
        yield loose
        return
    for most in MOST_COUNTED:
        yield with_small_counters(loose, most)
