"""The search for any number of threads against its slow twin, and against the explicit engine for 1 to 4 threads."""

from __future__ import annotations

from random import Random

import pytest

from memfence.api.check import check
from memfence.engines.native.explicit import explore
from memfence.engines.native.parameterised import explore_parameterised, unsupported
from memfence.models.spec import SC, TSO, ModelSpec
from memfence.models.steps import evaluate_in
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.program.parameterised import instances_of, named_instances, resized
from memfence.questions.safety import goal_of
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import StepFails
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import ALL_REDUCTIONS, Safety
from support.generators.parameterised_programs import bad_state, parameterised_program
from twins.parameterised import can_reach

LIMITS = Limits(timeout_seconds=60)
BOUND = 4
"""Pending stores of one thread, for the explicit engine."""
NEEDS_TWO_ALIKE = (107, 169, 296)
"""Programs that fail, and only if two threads are in the same place."""
FEW = Limits(timeout_seconds=5, most_states=20_000)
MANY = Limits(timeout_seconds=20, most_states=1_000_000)


def found_by_explicit(program: Program, goal: Safety, model: ModelSpec, count: int, limits: Limits) -> bool | None:
    """Whether so many instances of each template reach the goal; None where that stays open."""
    counts = {t: max(n, count) for t, n in named_instances(program, goal.expressions).items()}
    some = resized(program, counts)
    asked = Safety(bad=some.expression(goal.bad))
    bounded = model.bounded(BOUND) if model.has_buffers else model
    explored = explore(some.program, bounded, asked, limits=limits, reductions=frozenset(ALL_REDUCTIONS))
    if explored.finding is not None:
        return True
    return False if explored.stop is Stop.NOTHING_LEFT else None


def check_law(seed: int, model: ModelSpec, *, most: int, limits: Limits, twin: int) -> bool:
    """The answer of the engine, held against all others."""
    program, random = parameterised_program(seed), Random(seed)
    goal = Safety(bad=bad_state(program, random))
    assert unsupported(program, goal, model) is None
    reductions = frozenset(ALL_REDUCTIONS) if random.random() < 0.5 else frozenset()
    result = explore_parameterised(program, goal, model, limits=LIMITS, reductions=reductions)
    assert result.complete
    if result.finding is None:
        for count in range(1, most + 1):
            assert found_by_explicit(program, goal, model, count, limits) is not True, (seed, count)
    else:
        check_run(program, goal, model, result, limits)
    if model is TSO:
        expected = can_reach(program, goal.bad, most=twin)
        assert expected in (None, result.finding is not None), seed
    return result.finding is not None


def check_run(program: Program, goal: Safety, model: ModelSpec, result, limits: Limits) -> None:
    trace = result.trace()
    counts = {t: len(instances_of(trace.program, t)) for t in program.any_number}
    if result.finding == StepFails():
        assert trace.failure is not None
    else:
        assert evaluate_in(trace.program, trace.end, 0, resized(program, counts).expression(goal.bad))
    assert found_by_explicit(program, goal, model, max(counts.values()), limits) is not False


@pytest.mark.parametrize("model", [TSO, SC], ids=["tso", "sc"])
def test_answers_for_any_number_are_those_of_the_twin_and_of_a_few_threads(model):
    answers = [check_law(seed, model, most=3, limits=FEW, twin=25) for seed in (*range(24), *NEEDS_TWO_ALIKE)]
    assert 4 < sum(answers) < 24  # neither answer is rare


LATE_READER = """
byte x, y, z;
active [*] proctype T() { if :: y == 1 -> z == 1; x = 1 :: x == 1 -> bad: skip fi }
active proctype P() { z = 1; z = 0; y = 1 }
ltl never { [] !(T[0]@bad) }
"""
"""Who has seen `y` sees no `z` any more: a thread at its start that still waits for both is no start."""


def test_a_thread_that_waits_for_messages_which_cannot_come_is_no_start():
    assert check(SourceText("late.pml", LATE_READER)).verdict is Verdict.HOLDS


PREDECESSOR = """
byte x;
active [*] proctype T() { if :: x == 0 -> x = 1 :: x == 1 -> x = 2 :: x == 2 -> bad: skip fi }
ltl never { [] !(T[0]@bad) }
"""
"""Fails with three threads: two that the property does not name have to write first."""


def test_threads_that_nobody_names_write():
    program = load_text(SourceText("predecessor.pml", PREDECESSOR))
    goal = goal_of(program, program.properties)
    result = explore_parameterised(program, goal, TSO, limits=LIMITS, reductions=frozenset())
    assert result.finding is not None
    assert len(result.trace().program.processes) == 3


@pytest.mark.slow
@pytest.mark.parametrize("block", range(15))
@pytest.mark.parametrize("model", [TSO, SC], ids=["tso", "sc"])
def test_fifteen_hundred_programs_obey_the_law(block, model):
    for seed in range(1_000 + 100 * block, 1_100 + 100 * block):
        check_law(seed, model, most=4, limits=MANY, twin=400)
