"""Temporal goals with buffers of any length: a proof, where even buffers that forget have no run that is accepted."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from memfence.engines.native.emptiness import MOST_MARKS, find_accepted_run, marks_of
from memfence.engines.partial_coherence import expressions_of, unforgettable
from memfence.models.buffering import Buffering
from memfence.models.fairness import fairness_among
from memfence.models.spec import SC, ModelSpec
from memfence.passes.fair_buffers import values_stored, with_fair_buffers
from memfence.passes.orders import for_hardware
from memfence.program.expressions import BufferEmpty
from memfence.program.ir import Fence, Program
from memfence.tasks.answer import Answer, Verdict, outside
from memfence.tasks.evidence import Closure, Fixpoint, Limit
from memfence.tasks.obstacle import Obstacle, unless_unbounded
from memfence.tasks.task import NoAcceptedRun, Task

MOST_VALUES = 16


class FairBuffersEngine:
    """Infinite runs under TSO and PSO with buffers of any length. It proves, or says nothing."""

    name = "fair buffers"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not isinstance(task.goal, NoAcceptedRun):
            return Obstacle.OTHER_GOAL
        match task.spec.buffering:
            case Buffering.NOWHERE | Buffering.PER_PROCESS | Buffering.PER_VARIABLE:
                return unless_unbounded(task.spec) or _obstacle(for_hardware(task.program, task.spec), task.spec)
            case _:
                assert_never(task.spec.buffering)  # what is forgotten covers PSO, not every weaker model

    def answer(self, task: Task) -> Answer:
        goal = task.goal
        assert isinstance(goal, NoAcceptedRun)
        larger = with_fair_buffers(
            for_hardware(task.program, task.spec),
            goal.atoms,
            goal.conditions,
            keeps_order=not task.spec.reorders_stores,
            most_conditions=MOST_MARKS - goal.marks,
        )
        if marks_of(goal.marks, larger.conditions) > MOST_MARKS:
            return outside(self.name, Obstacle.MANY_VARIABLES)
        asked = replace(goal, atoms=larger.atoms, conditions=larger.conditions)
        found = find_accepted_run(larger.program, SC, asked, limits=task.limits, reductions=task.reductions)
        if found.lasso is not None:  # of a program that can do more
            return outside(self.name, Obstacle.TOO_COARSE).costing(found.cost)
        if not found.complete:
            return Answer(Verdict.UNKNOWN, Limit(found.stop, found.cost.states), self.name, found.cost)
        fair = fairness_among(goal.conditions)
        return Answer(Verdict.HOLDS, Fixpoint(Closure.SETS, fair), self.name, found.cost)


def _obstacle(program: Program, model: ModelSpec) -> Obstacle | None:
    """What keeps the buffers of a program for hardware from being forgotten."""
    ops = (op for p in program.processes for t in p.transitions for op in t.ops)
    if model.reorders_stores and any(isinstance(op, Fence) and op.kind == "sfence" for op in ops):
        return Obstacle.STORE_FENCE
    if any(isinstance(node, BufferEmpty) for node in expressions_of(program)):
        return Obstacle.LOOKS_AT_BUFFERS
    if not program.variables:
        return Obstacle.NO_BUFFERS
    owned = ((process, x) for process in program.processes for x, _ in enumerate(program.variables))
    if any(values_stored(program, process, x)[MOST_VALUES:] for process, x in owned):
        return Obstacle.MANY_VALUES
    return unforgettable(program)
