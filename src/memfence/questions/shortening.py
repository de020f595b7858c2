"""Counterexamples that a colleague understands: as short as can be found within a budget, and nothing that can go.

First everything that can be left out is left out. Then a plain search, breadth first and without reductions, looks for
a shorter run with buffers as long as the run: no shorter run needs longer ones. If it comes to its end, its run is a
shortest one; only then is it called so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from memfence.execution.pruning import drained, pruned
from memfence.execution.trace import Trace
from memfence.models.spec import SC
from memfence.models.steps import evaluate_in, is_final, successors
from memfence.program.expressions import Expr
from memfence.program.ir import Final, Program
from memfence.questions.safety import goal_of, model_asked
from memfence.strategy.portfolio import ask
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import BadFinalState, BadState, CounterexampleRun, Deadlocked, Route, StepFails
from memfence.tasks.options import CheckOptions, properties_to_check
from memfence.tasks.result import CheckResult
from memfence.tasks.task import Safety, Task

MOST_STATES = 100_000
MOST_SECONDS = 1.0
LONGEST = 400
"""Steps of a run that pruning is tried on: replaying is plain Python."""


def shortened(result: CheckResult, options: CheckOptions) -> CheckResult:
    """`result` with a run that is shorter, if one is found; it shows the same. Others are returned as they are."""
    run = result.evidence
    if (
        not isinstance(run, CounterexampleRun)
        or result.criterion is not Criterion.SAFETY
        or result.program.error_locations is not None
    ):
        return result
    shows = _shows(result, run)
    if shows is None or not run.trace.steps or len(run.trace.steps) > LONGEST:
        return result
    whole = run.trace if shows(run.trace) else drained(run.trace)
    evidence = replace(run, trace=pruned(whole, shows, seconds=MOST_SECONDS))
    found = _shortest(result, evidence, options)
    if found is not None:
        route = run.route if run.route is Route.UNDER_SC else Route.DIRECT
        evidence = replace(run, trace=found, route=route, is_shortest=True)
        again = _shows(result, evidence)
        if again is not None:
            evidence = replace(evidence, trace=pruned(found, again, seconds=MOST_SECONDS))
    evidence = replace(evidence, fails_under_sc=_fails_under_sc(result, evidence, options))
    return replace(result, answer=replace(result.answer, evidence=evidence))


def pruned_run(trace: Trace, options: CheckOptions, keeps: Callable[[Trace], bool]) -> Trace:
    """A run of the same program that fails in the same way, without what it does not need, of which `keeps` is true."""
    shows = _failing(trace, options)
    if shows is None or not trace.steps or len(trace.steps) > LONGEST or not keeps(trace):
        return trace
    return pruned(trace, lambda one: shows(one) and keeps(one), seconds=MOST_SECONDS)


def _failing(trace: Trace, options: CheckOptions) -> Callable[[Trace], bool] | None:
    """What is wrong at the end of the run: a step fails, a state is bad, or nobody can go on."""
    program = trace.program
    if trace.failure is not None:
        return _fails_like(trace)
    bad = goal_of(program, properties_to_check(program, options)).bad
    if bad is not None and _is_true(program, trace, bad):
        return lambda one: one.failure is None and _is_true(program, one, bad)
    return (lambda one: _is_stuck(program, one)) if _is_stuck(program, trace) else None


def _shows(result: CheckResult, run: CounterexampleRun) -> Callable[[Trace], bool] | None:
    """What a shorter run has to show, too."""
    program = run.trace.program
    match run.finding:
        case StepFails():
            return _fails_like(run.trace)
        case BadState():
            bad = goal_of(result.program, result.properties).bad
            return None if bad is None else lambda trace: trace.failure is None and _is_true(program, trace, bad)
        case BadFinalState():
            return _ends_like(result, program)
        case Deadlocked():
            return lambda trace: _is_stuck(program, trace)
        case _:
            return None


def _fails_like(run: Trace) -> Callable[[Trace], bool]:
    failure, step = run.failure, run.steps[-1].step
    return lambda trace: trace.failure == failure and bool(trace.steps) and trace.steps[-1].step == step


def _is_true(program: Program, trace: Trace, expr: Expr) -> bool:
    return evaluate_in(program, trace.end, 0, expr) != 0


def _ends_like(result: CheckResult, program: Program) -> Callable[[Trace], bool] | None:
    final = next((p for p in result.properties if isinstance(p, Final) and p.observed), None)
    if final is None:
        return None
    is_bad = final.quantifier != "forall"

    def shows(trace: Trace) -> bool:
        return is_final(program, trace.end) and _is_true(program, trace, final.expr) == is_bad

    return shows


def _is_stuck(program: Program, trace: Trace) -> bool:
    is_over = not any(successors(program, trace.memory_model, trace.end))
    return is_over and trace.failure is None and not is_final(program, trace.end)


def _shortest(result: CheckResult, run: CounterexampleRun, options: CheckOptions) -> Trace | None:
    """A run that no other is shorter than; None where the search for one did not come to its end."""
    goal, short = _goal(result, run), run.trace
    if goal is None:
        return None
    model = model_asked(options)
    if not model.is_bounded:
        model = model.bounded(max(1, len(short.steps)))
    limits = options.limits.within(
        most_states=MOST_STATES, timeout_seconds=MOST_SECONDS, threads=1, progress=None
    )  # one thread: only then does the nearest finding come first
    found = ask("explicit", Task(result.program, model, goal, limits, frozenset())).trace
    if found is None or len(found.steps) > len(short.steps):
        return None
    return Trace(found.program, short.memory_model, found.start, [taken.step for taken in found.steps])


def _fails_under_sc(result: CheckResult, run: CounterexampleRun, options: CheckOptions) -> bool:
    goal = _goal(result, run)
    if goal is None or not options.spec.has_buffers:
        return False
    limits = options.limits.within(most_states=MOST_STATES, timeout_seconds=MOST_SECONDS, progress=None)
    return ask("explicit", Task(result.program, SC, goal, limits)).verdict is Verdict.VIOLATED


def _goal(result: CheckResult, run: CounterexampleRun) -> Safety | None:
    match run.finding:
        case StepFails():
            return Safety()
        case BadState():
            return Safety(bad=goal_of(result.program, result.properties).bad, failures=False)
        case Deadlocked():
            return Safety(failures=False, deadlock=True)
        case _:
            return None
