"""The Dual-TSO engine against its slow twin and against the limit of the explicit engine, on programs with loops."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfence.engines.native.dual import DualResult, explore_dual, supports
from memfence.engines.native.explicit import explore
from memfence.models.steps import evaluate_in, is_final
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.expressions import At, Binary, Const, Expr, RegisterOf, Shared, conjunction, variable_address
from memfence.program.ir import Program
from memfence.tasks.evidence import StepFails
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import ALL_REDUCTIONS, Safety
from support.generators.cyclic_programs import cyclic_program
from support.generators.programs import EVERYTHING, Shape, programs
from support.models import spec
from support.samples import Sample, ends, register_is
from twins.dual import can_reach

ALL = frozenset(ALL_REDUCTIONS)
LIMITS = Limits(timeout_seconds=60)
EXPLICIT_LIMITS = Limits(timeout_seconds=20)
LARGEST_BOUND = 8
SETTLED_BOUND = 5
"""What no run with this many pending stores reaches, no run of so small a program reaches."""

MIXED = Shape(features=EVERYTHING | {"assertions", "errors", "regions"}, weights=(6, 2, 2))
ATOMIC = Shape(
    processes=(2, 2),
    statements=(1, 3),
    features=frozenset({"steps", "loops", "fences", "addresses", "arithmetic", "locked"}),
    weights=(7, 1, 2),
)

FENCED = Sample("fenced", "x y").process("P", "x := 1", "mfence", "r := y").process("Q", "y := 1", "mfence", "r := x")
OVERWRITTEN = Sample("overwritten", "x y").process("P", "x := 1", "x := 2", "r := y")
OVERWRITTEN.process("Q", "y := 1", "mfence", "r := x")
"""P reads an old y while both its stores to x are pending."""
BETWEEN = Sample("between", "w x y z").process("P", "x := 1", "w := 1", "r := z", "s := y")
BETWEEN.process("Q", "z := 1", "mfence", "r := x", "s := x", "y := 1", "y := 2", "mfence", "t := w")
"""P reads a z from before its stores reach memory, and a y from between them, with both pending."""
KNOWN = [(FENCED, ((0,), (0,)), False), (OVERWRITTEN, ((0,), (0,)), True), (BETWEEN, ((0, 1), (0, 1, 0)), True)]
"""Whether the processes may end with these values in their registers."""


def random_bad(program: Program, random: Random) -> Expr:
    """Where some of the processes are, and what some of their registers hold."""
    facts: list[Expr] = []
    for p, process in enumerate(program.processes):
        if random.random() < 0.8:
            facts.append(At(p, frozenset({random.randrange(len(process.locations))})))
        lasting = [r for r, register in enumerate(process.registers) if not register.transient]
        if lasting and random.random() < 0.6:
            facts.append(Binary("==", RegisterOf(p, random.choice(lasting)), Const(random.randrange(3))))
    return conjunction(*facts)


def limit_of_explicit(program: Program, question: Safety) -> bool | None:
    """Whether any bound shows the finding; None where that stays open."""
    for bound in range(1, LARGEST_BOUND + 1):
        explored = explore(program, spec("tso", bound), question, limits=EXPLICIT_LIMITS, reductions=ALL)
        if explored.finding is not None:
            return True
        if explored.stop is not Stop.NOTHING_LEFT:
            return None
        if explored.refused == 0 or bound == SETTLED_BOUND:
            return False
    return None


def check_against_explicit(program: Program, question: Safety, reductions: frozenset[str]) -> bool:
    """The answer of the engine, which must be that of the explicit one with large enough buffers."""
    assert supports(program, question)
    result = explore_dual(program, question, limits=LIMITS, reductions=reductions)
    assert result.complete, result
    expected = limit_of_explicit(program, question)
    assert expected is None or result.found == expected
    if result.found:
        check_trace(program, question, result)
    return result.found


def check_trace(program: Program, question: Safety, result: DualResult) -> None:
    """The run replays, since it is a trace at all; it must show what was found."""
    trace = result.trace()
    if result.finding == StepFails():
        assert trace.failure is not None
    else:
        assert evaluate_in(program, trace.end, 0, question.bad)


def check_cyclic(seed: int) -> bool:
    program = cyclic_program(seed)
    random = Random(seed)
    bad = random_bad(program, random)
    found = check_against_explicit(program, Safety(bad=bad), ALL if random.random() < 0.5 else frozenset())
    expected = can_reach(program, bad, most=2_000)
    assert expected is None or found == expected
    return found


def quick(examples: int):
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(max_examples=examples, deadline=None, suppress_health_check=checks)


def test_cyclic_programs_get_the_answers_of_the_twin_and_the_limit_of_the_explicit_engine():
    answers = [check_cyclic(seed) for seed in range(100)]
    assert 20 < sum(answers) < 80  # neither answer is rare


@pytest.mark.parametrize(("sample", "registers", "expected"), KNOWN, ids=[sample.name for sample, *_ in KNOWN])
def test_known_programs_have_their_known_answers(sample, registers, expected):
    program = sample.build()
    facts = [ends(program, p) for p in range(len(registers))]
    facts += [register_is(p, r, value) for p, values in enumerate(registers) for r, value in enumerate(values)]
    assert check_against_explicit(program, Safety(bad=conjunction(*facts)), frozenset()) == expected


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_a_thousand_cyclic_programs_get_the_answers_of_the_twin_and_the_limit_of_the_explicit_engine(block):
    for seed in range(1_000 + 120 * block, 1_120 + 120 * block):
        check_cyclic(seed)


@given(program=programs(MIXED), seed=st.integers(0, 1_000_000), reductions=st.sets(st.sampled_from(ALL_REDUCTIONS)))
@quick(60)
def test_programs_with_everything_in_them_get_the_limit_of_the_explicit_engine(program, seed, reductions):
    program = fuse_lock_regions(program)
    question = Safety(bad=random_bad(program, Random(seed)))
    check_against_explicit(program, question, frozenset(reductions))


@given(program=programs(ATOMIC), seed=st.integers(0, 1_000_000))
@quick(60)
def test_atomic_steps_with_several_accesses_stay_atomic(program, seed):
    question = Safety(bad=random_bad(program, Random(seed)))
    found = check_against_explicit(program, question, frozenset())
    expected = can_reach(program, question.bad, most=500)
    assert expected is None or found == expected


@given(program=programs(Shape(features=EVERYTHING - {"loops"}, statements=(1, 3))), seed=st.integers(0, 1_000_000))
@quick(60)
def test_bad_final_states_may_look_at_memory(program, seed):
    random = Random(seed)
    variable, value = random.randrange(len(program.variables)), random.randrange(3)
    facts = [Binary("==", Shared(variable_address(variable)), Const(value))]
    for p, process in enumerate(program.processes):
        lasting = [r for r, register in enumerate(process.registers) if not register.transient]
        if random.random() < 0.6:
            facts.append(Binary("==", RegisterOf(p, random.choice(lasting)), Const(random.randrange(3))))
    bad = conjunction(*facts)
    result = explore_dual(program, Safety(failures=False), bad_final=bad, limits=LIMITS, reductions=ALL)
    assert result.complete
    explored = explore(program, spec("tso", 12), Safety(failures=False, final_values=(bad,)), reductions=ALL)
    assert explored.complete
    assert result.found == any(state.values == (1,) for state in explored.final_states)
    if result.found:
        end = result.trace().end
        assert is_final(program, end)
        assert evaluate_in(program, end, 0, bad)


@pytest.mark.slow
@given(data=st.data())
@quick(1_500)
def test_many_programs_get_the_limit_of_the_explicit_engine(data):
    program = fuse_lock_regions(data.draw(programs(data.draw(st.sampled_from([MIXED, ATOMIC])))))
    question = Safety(bad=random_bad(program, Random(data.draw(st.integers(0, 1_000_000)))))
    check_against_explicit(program, question, frozenset(data.draw(st.sets(st.sampled_from(ALL_REDUCTIONS)))))
