"""The native check of infinite runs against its slow twin: random programs with loops, formulas, automata, fairness.

Every lasso that is found has passed the self-check of `analyses.ltl.witness` already: replayed, closed, fair, and a
violation of the formula by the definition of LTL. Most programs and questions are drawn by seed: measured to find
planted bugs three to ten times sooner than hypothesis, whose programs are too small to be unfair.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfence.models.fairness import Fairness, memory_fairness, process_fairness
from memfence.models.spec import ModelSpec
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.ir import Process, Program
from memfence.questions.ltl.check import claim_of_automaton, decide, fairness_of
from memfence.tasks.limits import Limits
from support.generators.cyclic_programs import cyclic_program
from support.generators.ltl_claims import claim, property_automaton
from support.generators.programs import EVERYTHING, Shape, programs
from support.models import spec
from twins.emptiness import TooLarge, has_accepted_run, has_run_of_property

MEMORIES = (spec("sc"), spec("tso", 1, True), spec("tso", 2, True), spec("tso", 2), spec("pso", 1))
MOST_STATES = 3_000
LOOPING = Shape(statements=(1, 3), weights=(7, 2, 5), features=EVERYTHING | {"regions"})
FAILING = Shape(statements=(1, 3), weights=(7, 3, 5), features=EVERYTHING | {"errors"})


def named(memory: ModelSpec) -> str:
    return f"{memory.name}{'-var' if memory.per_variable else ''}-{memory.bound}"


def check_formula(random: Random, program: Program, memory: ModelSpec) -> None:
    """Both sides give the same answer."""
    stated, fair = claim(random, program), random.choice(list(Fairness))
    conditions = fairness_of(program, stated, memory, fair)
    model = memory.definition
    try:
        expected = has_accepted_run(program, model, stated.automaton, stated.atoms, conditions, MOST_STATES)
    except TooLarge:
        return
    found = decide(program, stated, memory, fairness=fair, limits=Limits())
    assert (found.trace is not None) == expected, stated


def check_automaton(random: Random, program: Program, memory: ModelSpec) -> None:
    automaton, fair = property_automaton(random, program), random.choice(list(Fairness))
    model = memory.definition
    conditions = (*memory_fairness(program, model), *process_fairness(program, fair))
    try:
        expected = has_run_of_property(program, model, automaton, conditions, MOST_STATES)
    except TooLarge:
        return
    found = decide(program, claim_of_automaton(automaton), memory, fairness=fair, limits=Limits())
    assert (found.trace is not None) == expected, automaton


def again_and_again(program: Program) -> Program:
    """Every process starts again at its end: without this hardly any program of the general generator runs for ever."""

    def closed(process: Process) -> Process:
        ends = {t.target for t in process.transitions} - {t.source for t in process.transitions}
        first = process.transitions[0]
        back = [replace(first, source=end, target=process.initial, ops=(), locked=False) for end in ends]
        return replace(process, transitions=(*process.transitions, *back))

    return replace(program, processes=tuple(closed(process) for process in program.processes))


@st.composite
def looping_programs(draw: st.DrawFn, shape: Shape) -> Program:
    return again_and_again(fuse_lock_regions(draw(programs(shape))))


@st.composite
def error_going_programs(draw: st.DrawFn) -> Program:
    """Run-time errors lead to a state of their own, from which the run goes on, as in DVE."""
    program = draw(looping_programs(FAILING))
    places = tuple(draw(st.integers(0, len(p.locations) - 1)) for p in program.processes)
    return replace(program, error_locations=places)


def quick(examples: int):
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(max_examples=examples, deadline=None, suppress_health_check=checks)


@pytest.mark.parametrize("memory", MEMORIES, ids=named)
def test_formulas_get_the_answer_of_the_slow_twin(memory: ModelSpec) -> None:
    for seed in range(100):
        random = Random(f"{named(memory)} {seed}")
        check_formula(random, cyclic_program(random.randrange(10**6)), memory)


@pytest.mark.parametrize("memory", MEMORIES, ids=named)
def test_property_processes_get_the_answer_of_the_slow_twin(memory: ModelSpec) -> None:
    for seed in range(60):
        random = Random(f"automaton {named(memory)} {seed}")
        check_automaton(random, cyclic_program(random.randrange(10**6)), memory)


@pytest.mark.parametrize("memory", MEMORIES, ids=named)
@given(program=looping_programs(LOOPING), seed=st.integers(0, 10**6))
@quick(30)
def test_locks_and_initial_values_get_the_answer_of_the_slow_twin(memory, program, seed):
    check_formula(Random(seed), program, memory)


@pytest.mark.parametrize("memory", (MEMORIES[0], MEMORIES[1]), ids=named)
@given(program=error_going_programs(), seed=st.integers(0, 10**6))
@quick(30)
def test_runs_that_go_on_after_an_error_get_the_answer_of_the_slow_twin(memory, program, seed):
    check_formula(Random(seed), program, memory)


@pytest.mark.slow
@pytest.mark.parametrize("memory", MEMORIES, ids=named)
def test_a_thousand_formulas_get_the_answer_of_the_slow_twin(memory: ModelSpec) -> None:
    for seed in range(1000, 2000):
        random = Random(f"{named(memory)} {seed}")
        program = cyclic_program(random.randrange(10**6))
        check_formula(random, program, memory)
        check_automaton(random, program, memory)


@pytest.mark.slow
@pytest.mark.parametrize("memory", MEMORIES, ids=named)
@given(program=looping_programs(LOOPING) | error_going_programs(), seed=st.integers(0, 10**6))
@quick(300)
def test_many_programs_of_every_kind_get_the_answer_of_the_slow_twin(memory, program, seed):
    check_formula(Random(seed), program, memory)
    check_automaton(Random(seed), program, memory)
