"""Questions that need no search: what is asked for lies where control never comes, whatever the loads give."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.models.spec import SC
from memfence.passes.orders import for_hardware
from memfence.program.expressions import At, Binary, Const, Expr, Shared, Unary, walk
from memfence.program.facts.dead_locations import locations_in_reach
from memfence.program.facts.may_fail import some_step_may_fail
from memfence.program.ir import Program
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import Invariant
from memfence.tasks.limits import Cost
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety, Task


class UnreachableEngine:
    """Safety by the control flow of each process alone. It proves, or has an obstacle."""

    name = "control flow"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not isinstance(task.goal, Safety):
            return Obstacle.OTHER_GOAL
        return None if is_out_of_reach(task.program, task.goal) else Obstacle.NOT_BY_CONTROL_FLOW

    def answer(self, task: Task) -> Answer:
        return Answer(Verdict.HOLDS, Invariant(task.spec), self.name, Cost())


def is_out_of_reach(program: Program, goal: Safety) -> bool:
    """Whether no run breaks the goal, since a single process cannot; False says nothing."""
    if goal.deadlock or goal.final_values or goal.bad is None or _may_be_an_error(goal.bad):
        return False
    program = for_hardware(program, SC)  # what single processes reach is the same in every model
    reached = locations_in_reach(program)
    if _may_be(goal.bad, reached, truth=True):
        return False
    return not goal.failures or not some_step_may_fail(program)


def _may_be(expr: Expr, reached: Sequence[frozenset[int]], *, truth: bool) -> bool:
    """Whether the expression may have that truth somewhere in reach."""
    match expr:
        case Const(value):
            return (value != 0) == truth
        case At(process, locations):
            return bool(reached[process] & locations) if truth else not reached[process] <= locations
        case Unary("!", operand):
            return _may_be(operand, reached, truth=not truth)
        case Binary("&&" | "||" as op, left, right):
            both = (op == "&&") == truth
            parts = (_may_be(side, reached, truth=truth) for side in (left, right))
            return all(parts) if both else any(parts)
        case _:
            return True


def _may_be_an_error(expr: Expr) -> bool:
    """Whether evaluating the expression may be an error, whatever its operands are."""
    return any(
        (isinstance(node, Binary) and node.op in ("/", "%", "<<", ">>", "*", "+", "-"))
        or (isinstance(node, Shared) and node.address.variable is None)
        for node in walk(expr)
    )
