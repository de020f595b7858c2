"""What a single process rules out, whatever its loads give: locations and registers together, by a search of it alone.

The control flow alone (`engines.unreachable`) does not see that a register which was even cannot be odd later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from memfence.engines.native.explicit import explore
from memfence.models.spec import SC
from memfence.passes.orders import for_hardware
from memfence.passes.shared_memory_form import other_communication
from memfence.program import ir
from memfence.program.expressions import (
    At,
    Binary,
    BufferEmpty,
    Conditional,
    Const,
    Expr,
    RegisterOf,
    Shared,
    conjunction,
    walk,
)
from memfence.program.facts.may_fail import some_step_may_fail
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import Invariant, Limit
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety, Task

MOST_STEPS = 20_000
"""Transitions of one process, a load having one for each value."""


class OneProcessEngine:
    """Safety where each bad combination asks something of one process that it alone never does. It proves, or says
    nothing."""

    name = "one process"

    def obstacle(self, task: Task) -> Obstacle | None:
        goal = task.goal
        if not isinstance(goal, Safety):
            return Obstacle.OTHER_GOAL
        if goal.final_values:
            return Obstacle.LISTS_FINAL_STATES
        if goal.deadlock:
            return Obstacle.ASKS_FOR_DEADLOCK
        if goal.bad is None or not all(_asked_of_one(case) for case in _cases(goal.bad)):
            return Obstacle.NOT_BY_CONTROL_FLOW
        if other_communication(task.program) is not None:
            return Obstacle.OTHER_COMMUNICATION
        if task.program.error_locations is not None:
            return Obstacle.RUNS_GO_ON_AFTER_ERRORS
        if goal.failures and some_step_may_fail(for_hardware(task.program, SC)):
            return Obstacle.STEP_MAY_FAIL
        return None

    def answer(self, task: Task) -> Answer:
        assert isinstance(task.goal, Safety) and task.goal.bad is not None
        program = for_hardware(task.program, SC)
        cost = Cost()
        for case in _cases(task.goal.bad):
            is_ruled_out = False
            for process, asked in _asked_of_one(case).items():
                alone = _alone(program, process)
                if alone is None:
                    continue
                goal = Safety(bad=asked, failures=False)
                found = explore(alone, SC, goal, limits=task.limits, reductions=task.reductions)
                cost += found.cost
                is_ruled_out = found.complete and found.finding is None
                if is_ruled_out or task.is_over:
                    break
            if not is_ruled_out:
                return Answer(Verdict.UNKNOWN, Limit(Stop.STATES, cost.states), self.name, cost)
        return Answer(Verdict.HOLDS, Invariant(task.spec), self.name, cost)


def _cases(expr: Expr) -> Iterator[Expr]:
    """What `expr` is a disjunction of."""
    if isinstance(expr, Binary) and expr.op == "||":
        yield from _cases(expr.left)
        yield from _cases(expr.right)
    else:
        yield expr


def _asked_of_one(case: Expr) -> dict[int, Expr]:
    """For each process, what the case asks of it alone."""
    found: dict[int, list[Expr]] = {}
    for term in _terms(case):
        nodes = list(walk(term))
        processes = {node.process for node in nodes if isinstance(node, At | RegisterOf)}
        if len(processes) == 1 and not any(isinstance(node, Shared | BufferEmpty) for node in nodes):
            found.setdefault(processes.pop(), []).append(term)
    return {process: conjunction(*terms) for process, terms in found.items()}


def _terms(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Binary) and expr.op == "&&":
        yield from _terms(expr.left)
        yield from _terms(expr.right)
    else:
        yield expr


def _alone(program: ir.Program, moving: int) -> ir.Program | None:
    """The program in which one process moves, and loads give any value; None where there are too many."""
    processes = [replace(p, transitions=(), registers=tuple(map(_first, p.registers))) for p in program.processes]
    steps: list[ir.Transition] = []
    for t in program.processes[moving].transitions:
        if any(isinstance(op, ir.Load) and _loads_more_than(MOST_STEPS, program, op) for op in t.ops):
            return None
        for ops in _with_values(program, t.ops):
            steps.append(ir.Transition(t.source, t.target, ops, span=t.span))
            if len(steps) > MOST_STEPS:
                return None
    processes[moving] = replace(program.processes[moving], transitions=tuple(steps))
    variables = tuple(replace(v, init=v.init[:1]) for v in program.variables)
    return replace(program, variables=variables, processes=tuple(processes), properties=())


def _first(register: ir.RegisterVar) -> ir.RegisterVar:
    return replace(register, init=register.init[:1])


def _with_values(program: ir.Program, ops: tuple[ir.Op, ...]) -> Iterator[tuple[ir.Op, ...]]:
    """The ops without memory, once for each choice of what they load."""
    ranges = [_values_at(program, op) for op in ops if isinstance(op, ir.Load)]
    for values in product(*ranges):
        chosen = iter(values)
        made: list[ir.Op] = []
        for op in ops:
            match op:
                case ir.Load(register, _, when):
                    value: Expr = Const(next(chosen))
                    made.append(ir.Assign(register, value if when is None else Conditional(when, value, Const(0))))
                case ir.Assign() | ir.Assume():
                    made.append(op)
                case _:
                    pass
        yield tuple(made)


def _loads_more_than(most: int, program: ir.Program, op: ir.Load) -> bool:
    values = _values_at(program, op)
    return values.stop - values.start > most  # a range of all 64-bit integers has no `len`


def _values_at(program: ir.Program, op: ir.Load) -> range:
    domains = [program.variables[v].domain for v in op.address.variables]
    return range(min(d.lo for d in domains), max(d.hi for d in domains) + 1)
