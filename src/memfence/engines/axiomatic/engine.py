"""The axiomatic engine: models as texts in cat, asked for an execution that goes wrong.

Under `Axioms` the answer is about executions, by `deepening`. SC, TSO and PSO can be asked about runs, too: then no
loop may do more than wait, and where there is an execution, `runs` finds the run with store buffers that does the same.
It shares nothing with the engines that go from state to state, so it is a check on them all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from memfence.axiomatic.code import Code, Cut
from memfence.axiomatic.library import models_named
from memfence.axiomatic.unroll import unroll
from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.deadline import Deadline
from memfence.engines.axiomatic.deepening import decide
from memfence.engines.axiomatic.goals import Ends, Fails, Goal
from memfence.engines.axiomatic.runs import IsWanted, run_of
from memfence.engines.axiomatic.searches import BySolver
from memfence.engines.axiomatic.solve import Executions, Found, LimitHit, Nothing, OutOfTime
from memfence.models.fairness import is_true
from memfence.models.state import Failure
from memfence.program.expressions import At, Binary, BufferEmpty, Expr, Shared, conjunction, walk
from memfence.program.ir import Final, Program
from memfence.tasks.answer import Answer, Verdict, outside
from memfence.tasks.evidence import BadState, CounterexampleRun, Evidence, Limit, NoExecution, Route, StepFails
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import GoodExecutions, Safety, Task

_OBSTACLES = {
    Unfit.CHANNEL: Obstacle.CHANNEL,
    Unfit.BUS_LOCK: Obstacle.LONG_LOCK_REGION,
    Unfit.DIRECT_STORE: Obstacle.DIRECT_STORE,
    Unfit.LOOKS_AT_OTHERS: Obstacle.LOOKS_AT_OTHERS,
    Unfit.COMMITTED_LOCATION: Obstacle.COMMITTED_LOCATION,
    Unfit.RUNS_GO_ON_AFTER_ERRORS: Obstacle.RUNS_GO_ON_AFTER_ERRORS,
    Unfit.ANY_NUMBER: Obstacle.ANY_NUMBER,
    Unfit.STORE_BEFORE_GUARD: Obstacle.STORE_BEFORE_GUARD,
}


class AxiomaticEngine:
    """Failures, and conditions on how all processes end, of programs whose loops only wait."""

    name = "axiomatic"

    def obstacle(self, task: Task) -> Obstacle | None:
        if isinstance(task.goal, GoodExecutions):
            return None
        goals = _goals(task)
        if isinstance(goals, Obstacle):
            return goals
        code = _code(task)
        return code if isinstance(code, Obstacle) else None

    def answer(self, task: Task) -> Answer:
        clock = Deadline()
        if isinstance(task.goal, GoodExecutions):
            return Answer(*decide(task, task.goal, (BySolver(),)), self.name, Cost(seconds=clock.elapsed))
        goals, code = _goals(task), _code(task)
        if isinstance(goals, Obstacle):
            return outside(self.name, goals)
        if isinstance(code, Obstacle):
            return outside(self.name, code)
        verdict, evidence = _ask(task, code, goals)
        return Answer(verdict, evidence, self.name, Cost(seconds=clock.elapsed))


def _ask(task: Task, code: Code, goals: list[Goal]) -> tuple[Verdict, Evidence]:
    (model,) = models_named(task.spec.unbounded.name)
    try:
        executions = Executions(code, limits=task.limits)
        active = executions.add(model)
    except LimitHit as hit:
        return Verdict.UNKNOWN, Limit(hit.stop, 0)
    events = len(executions.core.events.list)
    for goal in goals:
        match executions.find(active, goal):
            case Found(execution):
                trace = run_of(task.program, task.spec.definition, model, execution, _is_wanted(task, goal))
                if trace is None:
                    return Verdict.UNKNOWN, Limit(Stop.FOUND, events, found=True)
                finding = StepFails() if isinstance(goal, Fails) else BadState()
                return Verdict.VIOLATED, CounterexampleRun(trace, finding, Route.FROM_EXECUTION)
            case OutOfTime(stop):
                return Verdict.UNKNOWN, Limit(stop, events)
            case Nothing():
                pass
            case _ as other:
                assert_never(other)
    return Verdict.HOLDS, NoExecution(task.spec, events)


def _is_wanted(task: Task, goal: Goal) -> IsWanted:
    """Whether a state, or a failure, is what the goal is about."""
    if isinstance(goal, Fails):
        return lambda after: isinstance(after, Failure)
    assert isinstance(task.goal, Safety) and task.goal.bad is not None
    bad = task.goal.bad
    return lambda after: not isinstance(after, Failure) and is_true(task.program, after, bad)


def _code(task: Task) -> Code | Obstacle:
    """The program without loops, with all registers that the goal looks at."""
    assert isinstance(task.goal, Safety)
    looked_at = tuple((f"value {n}", expr) for n, expr in enumerate(task.goal.expressions))
    seen = Final("exists", conjunction(), "", looked_at)
    try:
        code = unroll(replace(task.program, properties=(seen,)), 1)
    except NotUnrolled as refusal:
        return _OBSTACLES[refusal.why]
    has_cut = any(isinstance(item, Cut) for thread in code.threads for item in thread.items)
    return Obstacle.LOOPS if has_cut else code


def _goals(task: Task) -> list[Goal] | Obstacle:
    """What must have no execution."""
    goal = task.goal
    if not isinstance(goal, Safety):
        return Obstacle.OTHER_GOAL
    if task.spec.is_bounded:
        return Obstacle.ANY_BOUND
    if goal.deadlock:
        return Obstacle.ASKS_FOR_DEADLOCK
    if goal.final_values:
        return Obstacle.LISTS_FINAL_STATES
    goals: list[Goal] = [Fails()] if goal.failures else []
    if goal.bad is not None:
        condition = _at_the_end(task, goal.bad)
        if condition is None:
            return Obstacle.NOT_ABOUT_ENDS
        goals.append(Ends(condition))
    return goals


def _at_the_end(task: Task, bad: Expr) -> Expr | None:
    """What the condition says besides that every process has ended; None if it may be true before."""
    parts = list(_conjuncts(bad))
    processes = range(len(task.program.processes))
    if any(At(p, _halts(task.program, p)) not in parts for p in processes):
        return None
    rest = [part for part in parts if not isinstance(part, At)]
    flushed = not task.spec.has_buffers or all(BufferEmpty(p) in parts for p in processes)
    leaves = [node for part in rest for node in walk(part)]
    if any(isinstance(node, At) for node in leaves) or (not flushed and any(isinstance(n, Shared) for n in leaves)):
        return None
    if any(isinstance(part, At) and part.locations != _halts(task.program, part.process) for part in parts):
        return None
    return conjunction(*rest)


def _conjuncts(expr: Expr) -> list[Expr]:
    if isinstance(expr, Binary) and expr.op == "&&":
        return [*_conjuncts(expr.left), *_conjuncts(expr.right)]
    return [expr]


def _halts(program: Program, process: int) -> frozenset[int]:
    """The locations without transitions."""
    body = program.processes[process]
    left = {transition.source for transition in body.transitions}
    return frozenset(n for n in range(len(body.locations)) if n not in left)
