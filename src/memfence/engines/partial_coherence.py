"""Safety by partial coherence, buffers that forget the order of older stores: a proof, if nothing bad is possible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from memfence.engines.native.explicit import explore
from memfence.models.buffering import Buffering
from memfence.models.spec import SC
from memfence.passes.orders import for_hardware
from memfence.passes.partial_coherence import has_more_values, with_partial_coherence
from memfence.program.expressions import At, BufferEmpty, Expr, RegisterOf, walk
from memfence.program.facts.effects import op_expressions
from memfence.program.ir import Lock, Program, Store, Unlock
from memfence.tasks.answer import Answer, Verdict, outside
from memfence.tasks.evidence import Closure, Fixpoint, Limit
from memfence.tasks.limits import Stop
from memfence.tasks.obstacle import Obstacle, unless_unbounded
from memfence.tasks.task import Safety, Task

MOST_VALUES = 8


class PartialCoherenceEngine:
    """Safety under TSO and PSO with buffers of any length. It proves, or says nothing."""

    name = "partial coherence"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not isinstance(task.goal, Safety):
            return Obstacle.OTHER_GOAL
        match task.spec.buffering:
            case Buffering.NOWHERE | Buffering.PER_PROCESS | Buffering.PER_VARIABLE:
                return unless_unbounded(task.spec) or _obstacle(task.program, task.goal)
            case _:
                assert_never(task.spec.buffering)  # what is forgotten covers PSO, not every weaker model

    def answer(self, task: Task) -> Answer:
        assert isinstance(task.goal, Safety)
        larger = with_partial_coherence(for_hardware(task.program, task.spec))
        found = explore(larger, SC, task.goal, limits=task.limits, reductions=task.reductions)
        if found.finding is not None:  # it may be spurious
            return outside(self.name, Obstacle.TOO_COARSE).costing(found.cost)
        if found.stop is not Stop.NOTHING_LEFT:
            return Answer(Verdict.UNKNOWN, Limit(found.stop, found.cost.states), self.name, found.cost)
        return Answer(Verdict.HOLDS, Fixpoint(Closure.SETS), self.name, found.cost)


def _obstacle(program: Program, goal: Safety) -> Obstacle | None:
    if goal.final_values:
        return Obstacle.LISTS_FINAL_STATES
    if goal.deadlock:
        return Obstacle.ASKS_FOR_DEADLOCK
    if program.error_locations is not None:
        return Obstacle.RUNS_GO_ON_AFTER_ERRORS
    looks = list(expressions_of(program))
    looks += [] if goal.bad is None else [node for node in walk(goal.bad) if isinstance(node, BufferEmpty)]
    if any(isinstance(node, At | RegisterOf | BufferEmpty) for node in looks):
        return Obstacle.LOOKS_AT_OTHERS
    if not program.variables or has_more_values(program, MOST_VALUES):
        return Obstacle.MANY_VALUES
    if any(op.direct for op in stores_of(program)):
        return Obstacle.DIRECT_STORE
    return unforgettable(program)


def stores_of(program: Program) -> Iterator[Store]:
    return (op for p in program.processes for t in p.transitions for op in t.ops if isinstance(op, Store))


def expressions_of(program: Program) -> Iterator[Expr]:
    """Everything that its ops evaluate."""
    ops = (op for p in program.processes for t in p.transitions for op in t.ops)
    return (node for op in ops for e in op_expressions(op) for node in walk(e))


def unforgettable(program: Program) -> Obstacle | None:
    """What in the program itself stands in the way of buffers that forget."""
    if any(location.committed for p in program.processes for location in p.locations):
        return Obstacle.COMMITTED_LOCATION
    transitions = [t for p in program.processes for t in p.transitions]
    if any(t.sync is not None for t in transitions):
        return Obstacle.CHANNEL
    ops = [op for t in transitions for op in t.ops]
    if any(isinstance(op, Lock | Unlock) for op in ops):
        return Obstacle.LONG_LOCK_REGION
    if any(op.when is not None for op in stores_of(program)):
        return Obstacle.DIRECT_STORE
    return None
