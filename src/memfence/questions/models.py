"""Does the program work under several memory models? One task per model, and one result.

A model that has states is asked about its runs first, which needs no bound on loops. What those leave open, and all
other models, are asked about their executions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memfence.deadline import TimeUp
from memfence.engines.axiomatic.violations import goal_of
from memfence.models.catalogue import knows, states_of
from memfence.models.spec import SPECS, Axioms
from memfence.program.ir import NoDeadlock, Program, Property
from memfence.questions import check
from memfence.questions.any_loops import can_be_proved, prove, robustness
from memfence.questions.late_uses import C11, has_late_uses, unless_uses_are_late
from memfence.strategy.portfolio import decide
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Cut, Limit
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.options import GRAPHS, CheckOptions, criterion_to_check, properties_to_check
from memfence.tasks.result import ModelAnswer, ModelsResult
from memfence.tasks.task import GoodExecutions, Task

NO_TIME = Answer(Verdict.UNKNOWN, Limit(Stop.TIMEOUT, 0), "axiomatic", Cost())
FIRST_LOOK, LAST_LOOK = 2.0, 30.0
"""Seconds for executions with one round of each loop, before a proof for any number of rounds is tried, and behind one.
They also show threads that wait for ever in loops that a search of states does not see through
(`passes.stuck_awaits`), so that there is no proof without them."""


def check_models(
    program: Program, names: Sequence[str], options: CheckOptions, *, unrolled: int | None = None
) -> ModelsResult:
    """One answer for each model. `unrolled`: rounds of loops; None: as many as needed, or as time allows."""
    options = options.started()
    if options.criterion is Criterion.ROBUST:
        robust = tuple(ModelAnswer(program, name, robustness(program, name, options, unrolled)) for name in names)
        seconds = options.limits.deadline.elapsed
        return ModelsResult(program, robust, (), (), seconds, criterion=Criterion.ROBUST)
    stated = properties_to_check(program, options)
    answers = tuple(_answers(program, names, stated, options, unrolled))
    asked = tuple(p for p in stated if goal_of(p) is not None)
    others = tuple(p for p in stated if goal_of(p) is None)
    states_nothing = criterion_to_check(program, options) is not Criterion.SAFETY
    return ModelsResult(program, answers, asked, others, options.limits.deadline.elapsed, states_nothing)


def _answers(
    program: Program, names: Sequence[str], stated: tuple[Property, ...], options: CheckOptions, unrolled: int | None
) -> list[ModelAnswer]:
    """What was found out in time stays: the models that are left when the time is up are the ones without an answer."""
    answers: list[ModelAnswer] = []
    try:
        for name in names:
            answers.append(_answer(program, name, stated, options, unrolled))
    except TimeUp:
        left = names[len(answers) :]
        answers.extend(ModelAnswer(program, name, NO_TIME) for name in left)
    return answers


def _answer(
    program: Program, name: str, stated: tuple[Property, ...], options: CheckOptions, unrolled: int | None
) -> ModelAnswer:
    if states_of(name) and knows(name, program.language) and options.engine != GRAPHS:
        model = SPECS[states_of(name)].name
        found = check(program, replace(options, model=model, criterion=Criterion.SAFETY))
        if found.verdict is not Verdict.UNKNOWN:
            waiting = None if found.verdict is Verdict.VIOLATED else _waiting(program, name, stated, options)
            return ModelAnswer(program, name, waiting or found.answer, found if waiting is None else None)
    answer = _without_states(program, name, stated, options, unrolled)
    if answer.verdict in (Verdict.HOLDS, Verdict.HOLDS_UP_TO) and has_late_uses(program, name):
        answer = unless_uses_are_late(answer, _without_states(program, C11, stated, options, unrolled))
    return ModelAnswer(program, name, answer)


def _without_states(
    program: Program, name: str, stated: tuple[Property, ...], options: CheckOptions, unrolled: int | None
) -> Answer:
    if unrolled is None and options.engine != GRAPHS and can_be_proved(program, name, stated):
        return _for_any_loops(program, name, stated, options)
    return _by_axioms(program, name, stated, options, unrolled)


def _for_any_loops(program: Program, name: str, stated: tuple[Property, ...], options: CheckOptions) -> Answer:
    """What one round of each loop shows, if that decides; a proof for any number; else as many as time allows."""
    first = _one_round(program, name, stated, options, FIRST_LOOK)
    if first.is_conclusive or first.is_interrupted or options.limits.deadline.passed:
        return first
    proof = prove(program, name, stated, options) if isinstance(first.evidence, Cut | Limit) else None
    if proof is not None and isinstance(first.evidence, Limit) and any(isinstance(p, NoDeadlock) for p in stated):
        first = _one_round(program, name, stated, options, LAST_LOOK)
        proof = proof if isinstance(first.evidence, Cut) else None
    if proof is not None or first.is_conclusive:
        return proof or first
    return _by_axioms(program, name, stated, options, None)


def _one_round(
    program: Program, name: str, stated: tuple[Property, ...], options: CheckOptions, seconds: float
) -> Answer:
    limits = options.limits.within(timeout_seconds=seconds)
    return decide(Task(program, Axioms(name), GoodExecutions(stated, 1), limits), options.engine)


def _by_axioms(
    program: Program, name: str, stated: tuple[Property, ...], options: CheckOptions, unrolled: int | None
) -> Answer:
    return decide(Task(program, Axioms(name), GoodExecutions(stated, unrolled), options.limits), options.engine)


def _waiting(program: Program, name: str, stated: Sequence[Property], options: CheckOptions) -> Answer | None:
    """Threads that go round for ever while they wait: no deadlock to engines with states, since there are steps."""
    stated = tuple(p for p in stated if goal_of(p) is not None)
    if not any(isinstance(p, NoDeadlock) for p in stated):
        return None
    found = _by_axioms(program, name, stated, options, 1)
    violated = found.counterexample.violated if found.counterexample is not None else None
    return found if isinstance(violated, NoDeadlock) else None
