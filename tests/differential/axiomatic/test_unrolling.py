"""Unrolled code does what the program does: compared with the reference search, under SC, on random programs."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memfence.axiomatic.unroll import unroll
from memfence.models.spec import SC
from memfence.models.steps import is_final
from memfence.program.expressions import TRUE, RegisterOf
from memfence.program.ir import Domain, Final, Program
from support.generators.programs import EVERYTHING, Shape, programs
from twins.reference_search import TooManyStates, explore, outcome
from twins.unrolled_sc import run_all

LOOP_FREE = Shape(features=EVERYTHING - {"loops"}, weights=(5, 2, 3))
WITH_ERRORS = Shape(features=EVERYTHING - {"loops"} | {"errors", "assertions", "counting"}, weights=(4, 4, 2))
WRAPPING = Shape(features=EVERYTHING | {"counting"}, domain=Domain(-1, 2, "wrap"), weights=(4, 3, 2))
LOOPS = Shape(features=EVERYTHING, weights=(4, 2, 4), statements=(1, 3))


def observed(program: Program) -> Program:
    """The same program with a property that looks at every register."""
    registers = [RegisterOf(p, r) for p, process in enumerate(program.processes) for r in range(len(process.registers))]
    final = Final("exists", TRUE, "all", tuple((str(register), register) for register in registers))
    return replace(program, properties=(final,))


def agrees(program: Program, times: int) -> bool:
    """The outcomes are the same where no bound is reached, and a part of them elsewhere; so with failures."""
    model = SC.definition
    reference = explore(program, model, most_states=20_000)
    assume(reference.complete)
    expected = {outcome(program, state) for state in reference.states if is_final(program, state)}
    try:
        found = run_all(unroll(observed(program), times), most_states=20_000)
    except TooManyStates:
        assume(False)
    assert found.outcomes <= expected
    failed = bool(reference.failures)
    if found.is_cut:
        return failed or not found.failures
    assert found.outcomes == expected
    assert bool(found.failures) == failed
    return True


@given(programs(LOOP_FREE))
@settings(max_examples=60, deadline=None)
def test_code_without_loops_has_the_same_outcomes(program: Program) -> None:
    assert agrees(program, 1)


@given(programs(WITH_ERRORS))
@settings(max_examples=60, deadline=None)
def test_code_fails_where_the_program_does(program: Program) -> None:
    assert agrees(program, 1)


@given(programs(WRAPPING), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_values_that_wrap_do_so_in_unrolled_code(program: Program, times: int) -> None:
    assert agrees(program, times)


@given(programs(LOOPS), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_unrolled_loops_show_outcomes_of_the_program(program: Program, times: int) -> None:
    assert agrees(program, times)
