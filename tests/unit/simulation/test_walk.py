"""Walks: every one that can be chosen is a run, and every run can be chosen."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st

import memfence
from memfence.execution.trace import Trace
from memfence.models.spec import SPECS
from memfence.models.state import Commit, State
from memfence.models.steps import evaluate_in, is_final, successors
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.expressions import Expr
from memfence.program.ir import Program
from memfence.simulation.nearest import walk_to
from memfence.simulation.walk import NotPossible, Walk, begin
from support.c_compiler import HAS_CLANG
from support.generators.programs import EVERYTHING, Shape, programs
from support.sampling import sampled

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SB = EXAMPLES / "store_buffering.litmus"
SHAPE = Shape(features=EVERYTHING | {"assertions", "errors"})
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]


def is_accepted(program: Program, model: str, seed: int, length: int) -> bool:
    """Whether a random walk replays, step by step the same, and offers nothing but what the rules do."""
    walk = begin(program, SPECS[model].definition).at_random(Random(seed), length)
    trace = walk.trace
    allowed = [step for step, _ in successors(program, walk.memory_model, walk.state)]
    is_same = (trace.end, trace.failure, len(trace.steps)) == (walk.state, walk.failure, len(walk.taken))
    return is_same and list(walk.choices) == ([] if walk.failure else allowed)


@sampled(
    quick=100,
    slow=5_000,
    program=programs(SHAPE),
    model=st.sampled_from(sorted(SPECS)),
    seed=st.integers(0, 1_000),
    length=st.just(30),
    given_slowly={"length": st.just(60)},
)
def test_every_random_walk_is_accepted_by_the_reference_model(
    program: Program, model: str, seed: int, length: int
) -> None:
    assert is_accepted(fuse_lock_regions(program), model, seed, length)


def counterexamples(pattern: str) -> list[Trace]:
    """What the explicit engine finds against the examples."""
    found = []
    for path in sorted(EXAMPLES.glob(pattern)):
        for model in SPECS:
            result = memfence.check(path, model=model, engine="explicit", timeout_seconds=20)
            if result.trace is not None:
                found.append(result.trace)
    return found


@pytest.mark.parametrize(
    ("pattern", "least"),
    [
        ("*.litmus", 2),
        ("*.pml", 15),
        pytest.param("*/*.pml", 5, marks=pytest.mark.slow),
        pytest.param("c/*.c", 5, marks=[pytest.mark.slow, pytest.mark.skipif(not HAS_CLANG, reason="no clang")]),
    ],
)
def test_every_counterexample_of_the_explicit_engine_can_be_walked(pattern: str, least: int) -> None:
    traces = counterexamples(pattern)
    assert len(traces) >= least
    for trace in traces:
        walk = Walk(trace.program, trace.memory_model, trace.start).follow([taken.step for taken in trace.steps])
        assert (walk.state, walk.failure) == (trace.end, trace.failure)


def test_a_step_that_is_not_offered_cannot_be_taken() -> None:
    walk = memfence.simulate(SB, model="tso")
    with pytest.raises(NotPossible, match="do not allow"):
        walk.take(Commit(0))
    with pytest.raises(NotPossible, match="no choice 9"):
        walk.choose(9)


def ends_with(program: Program, wanted: Expr, state: State) -> bool:
    return is_final(program, state) and bool(evaluate_in(program, state, 0, wanted))


def test_the_relaxed_outcome_can_be_walked_to_under_tso_and_not_under_sc() -> None:
    relaxed = "P0.EAX == 0 && P1.EAX == 0"
    for model, is_possible in (("sc", False), ("tso", True), ("pso", True)):
        walk = memfence.simulate(SB, model=model)
        expression = memfence.parse_expression(relaxed, walk.program)
        sought = walk_to(walk, partial(ends_with, walk.program, expression))
        assert sought.complete
        assert (sought.walk is not None) is is_possible


def test_the_nearest_state_is_a_nearest_one() -> None:
    walk = memfence.simulate(SB, model="tso")
    assert len(walk_to(walk, lambda state: state.memory[0] == 1).walk.taken) == 2  # type: ignore[union-attr]


def test_a_search_that_is_too_large_says_so() -> None:
    sought = walk_to(memfence.simulate(EXAMPLES / "bakery.pml"), lambda _: False, most_states=50)
    assert (sought.walk, sought.complete) == (None, False)
    assert sought.states > 50


def test_going_back_forgets_later_steps_only() -> None:
    walk = memfence.simulate(SB).choose(1).choose(2).choose(2)
    assert walk.back_to(1).taken == walk.taken[:1]
    assert walk.back_to(3) == walk
    with pytest.raises(NotPossible):
        walk.back_to(4)


def test_the_same_seed_is_the_same_walk() -> None:
    walk = memfence.simulate(EXAMPLES / "peterson.pml")
    assert walk.at_random(Random(7), 40) == walk.at_random(Random(7), 40)
    assert walk.at_random(Random(7), 40) != walk.at_random(Random(8), 40)
