"""Safety: no bad state, no failing assertion, no run-time error, and what is said about final states.

What to ask is put together here; which engines answer is the business of `strategy`.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.models.spec import ModelSpec
from memfence.passes.stuck_awaits import with_stuck_awaits
from memfence.passes.unset_registers import with_first_values
from memfence.passes.valid_ends import with_valid_ends
from memfence.program.expressions import Expr, conjunction, disjunction, negate
from memfence.program.facts.cuts import is_cut
from memfence.program.facts.ends import all_have_ended
from memfence.program.ir import Assert, Final, Forbidden, Invariant, NoDeadlock, Program, Property
from memfence.strategy.portfolio import decide
from memfence.tasks.answer import Answer, Verdict, outside
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import BadFinalState, CounterexampleRun
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.options import CheckOptions, what_is_asked
from memfence.tasks.result import CheckResult, stats_of
from memfence.tasks.task import Safety, Task


def goal_of(program: Program, properties: tuple[Property, ...]) -> Safety:
    """One goal for all properties of states at once. What is wanted of every final state forbids others, as states."""
    bad: list[Expr] = []
    values: tuple[Expr, ...] = ()
    for stated in properties:
        match stated:
            case Forbidden(expr, _):
                bad.append(expr)
            case Invariant(expr, _):
                bad.append(negate(expr))
            case Final("forall", expr, _, ()):
                bad.append(conjunction(all_have_ended(program), negate(expr)))
            case Final(_, expr, _, observed):
                values = (expr, *(value for _, value in observed))
            case _:
                pass
    return Safety(
        bad=disjunction(*bad) if bad else None,
        deadlock=any(isinstance(p, NoDeadlock) for p in properties),
        final_values=values,
    )


def check_safety(program: Program, options: CheckOptions) -> CheckResult:
    """Decide every property of `program`, or those that `options` give instead, and all its assertions.

    Where some are temporal, the others come first; a formula given in `options` is asked alone.
    """
    options = options.started()
    asked = what_is_asked(program, options)
    if asked.asks_states:
        first = _without_cuts(_check_states(program, options, asked.states), program, options)
        if not asked.temporal or first.verdict in (Verdict.VIOLATED, Verdict.UNKNOWN):
            return first
    from memfence.questions.ltl.check import check_ltl

    return check_ltl(program, options, asked.temporal)


def model_asked(options: CheckOptions) -> ModelSpec:
    """The model with the bound that the user gave, if any."""
    bound = options.buffer_bound
    return options.spec if bound is None else options.spec.bounded(bound)


def _check_states(program: Program, options: CheckOptions, properties: tuple[Property, ...]) -> CheckResult:
    goal = goal_of(program, properties)
    program = with_first_values(program, goal.expressions)
    if goal.deadlock:
        program = with_valid_ends(with_stuck_awaits(program, goal.expressions))
    limits = options.limits
    task = Task(program, model_asked(options), goal, limits, frozenset(options.reduce), program.language == "c")
    final = next((p for p in properties if isinstance(p, Final) and p.observed), None)
    answer = _of_the_program(program, decide(task, options.engine))
    if final is not None:
        answer = _judged(answer, final)
    return CheckResult(
        program,
        options.model,
        Criterion.SAFETY,
        properties,
        answer,
        limits,
        stats_of(answer.cost, answer.counts),
        None if final is None else tuple((state.values[1:], state.count) for state in answer.final_states),
    )


def _of_the_program(program: Program, answer: Answer) -> Answer:
    """The answer; none where a run of a C program fails otherwise than by a test of ours: C's errors are all tested."""
    failure = None if answer.trace is None else answer.trace.failure
    if program.language != "c" or failure is None or failure.is_assertion:
        return answer
    tested = {op.error for p in program.processes for t in p.transitions for op in t.ops if isinstance(op, Assert)}
    return answer if failure.reason in tested else outside(answer.engine, Obstacle.OWN_LIMIT)


def _without_cuts(result: CheckResult, program: Program, options: CheckOptions) -> CheckResult:
    """The result; a proof about a program that is cut off at bounds is one without them, where none is ever reached."""
    if result.verdict is not Verdict.HOLDS_UP_TO or result.answer.verdict is not Verdict.HOLDS:
        return result
    if not program.marked_cuts:
        return result
    goal = Safety(bad=is_cut(program), deadlock=False, final_values=())
    task = Task(program, model_asked(options), goal, options.limits, frozenset(options.reduce), program.language == "c")
    if decide(task, options.engine).verdict is not Verdict.HOLDS:
        return result
    notes = tuple(note for note in result.program.notes if note not in program.marked_cuts)
    return replace(result, program=replace(result.program, is_cut_off=False, notes=notes))


def _judged(answer: Answer, final: Final) -> Answer:
    """The answer with what the final states say about the condition; a final state that refutes it does so for good."""
    if answer.verdict is Verdict.VIOLATED:
        return answer
    is_bad = final.quantifier != "forall"
    for state in answer.final_states:
        if bool(state.values[0]) == is_bad:
            return replace(answer, verdict=Verdict.VIOLATED, evidence=CounterexampleRun(state.run(), BadFinalState()))
    return answer
