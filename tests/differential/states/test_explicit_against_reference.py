"""The native explicit engine against the reference models: the same states unreduced, the same answers reduced."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from memfence.engines.native.explicit import explore
from memfence.models.spec import ModelSpec
from memfence.models.state import State
from memfence.models.steps import evaluate_in, is_final
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.expressions import At, Binary, Const, Expr, RegisterOf, Shared, conjunction, variable_address
from memfence.program.ir import Program
from memfence.tasks.evidence import BadState, StepFails
from memfence.tasks.limits import Stop
from memfence.tasks.task import ALL_REDUCTIONS, Safety
from support.generators.programs import EVERYTHING, Shape, programs
from support.models import spec
from support.samples import Sample
from twins.reference_search import Exploration
from twins.reference_search import explore as explore_slowly

MEMORIES = (
    spec("sc"),
    *(spec("tso", k) for k in (1, 2, 3)),
    *(spec("tso", k, per_variable=True) for k in (1, 2, 3)),
    *(spec("pso", k) for k in (1, 2, 3)),
)
MOST_STATES = 4_000
QUESTIONS = 6
"""Asked to each program."""
SMALL = Shape(statements=(1, 3), features=EVERYTHING | {"assertions", "errors", "regions"})
REGISTER_WORK = Shape(
    processes=(2, 2), statements=(2, 4), variables=2, values=2, weights=(4, 6, 2), features=EVERYTHING
)
"""Many steps that no other process sees, some of them in loops."""
CHOICES = replace(REGISTER_WORK, weights=(4, 2, 4), features=frozenset({"choices", "arithmetic"}))
"""Such steps beside accesses, at the same place."""
ALL = frozenset(ALL_REDUCTIONS)
SUBJECTS = programs(SMALL) | programs(SMALL).map(fuse_lock_regions)
OVERWRITTEN = Sample("overwritten", "x").process("P0", "x := 1", "x := 2", "r := x").build()
"""The load sees the newer one of two own stores that are pending."""


def named(memory: ModelSpec) -> str:
    return f"{memory.name}{'-var' if memory.per_variable else ''}-{memory.bound}"


def reference(program: Program, memory: ModelSpec):
    model = memory.definition
    found = explore_slowly(program, model, most_states=MOST_STATES)
    assume(found.complete)
    return found


@st.composite
def questions(draw, program: Program) -> Expr:
    """A conjunction of a few facts about locations, registers and memory."""
    facts: list[Expr] = []
    for p, process in enumerate(program.processes):
        if draw(st.booleans()):
            facts.append(At(p, frozenset({draw(st.integers(0, len(process.locations) - 1))})))
        lasting = [r for r, register in enumerate(process.registers) if not register.transient]
        if lasting and draw(st.integers(0, 3)) == 0:
            facts.append(Binary("==", RegisterOf(p, draw(st.sampled_from(lasting))), Const(draw(st.integers(0, 2)))))
    if draw(st.integers(0, 2)) == 0:
        variable = draw(st.integers(0, len(program.variables) - 1))
        facts.append(Binary("==", Shared(variable_address(variable)), Const(draw(st.integers(0, 2)))))
    return conjunction(*facts)


def check_states(program: Program, memory: ModelSpec) -> None:
    expected = reference(program, memory)
    native = explore(program, memory, Safety(failures=False))
    assert native.stop is Stop.NOTHING_LEFT
    assert native.states() == set(expected.states)


@st.composite
def likely_questions(draw, program: Program, seen: list[State]) -> Expr:
    """Locations, and perhaps a value in memory, of a state that is there: a search that loses it answers wrongly."""
    state = draw(st.sampled_from(seen))
    facts: list[Expr] = [At(p, frozenset({at})) for p, at in enumerate(state.locations) if draw(st.booleans())]
    if draw(st.booleans()):
        variable = draw(st.integers(0, len(program.variables) - 1))
        facts.append(Binary("==", Shared(variable_address(variable)), Const(state.memory[variable])))
    return conjunction(*facts)


def check_answers(program: Program, memory: ModelSpec, data: st.DataObject) -> None:
    """Several questions to one program: exploring it slowly is what takes time."""
    expected = reference(program, memory)
    seen = sorted(expected.states, key=repr)
    for _ in range(QUESTIONS):
        bad = data.draw(questions(program) | likely_questions(program, seen), label="bad")
        some = st.sets(st.sampled_from(ALL_REDUCTIONS)) | st.just(set(ALL))
        check_answer(program, memory, bad, expected, frozenset(data.draw(some, label="reductions")))


def check_answer(
    program: Program, memory: ModelSpec, bad: Expr, expected: Exploration, reductions: frozenset[str]
) -> None:
    native = explore(program, memory, Safety(bad=bad), reductions=reductions)
    is_bad = any(evaluate_in(program, state, 0, bad) for state in expected.states)
    if not memory.has_buffers or "slice" not in reductions:
        assert (native.finding is not None) == (is_bad or bool(expected.failures))
    else:  # slicing frees places in the buffers: within the same bound, more runs; the trace proves each of them
        assert native.finding is not None or not (is_bad or expected.failures)
    if native.finding == BadState():
        assert evaluate_in(program, native.trace().end, 0, bad)
    if native.finding == StepFails():
        assert native.trace().failure is not None


def check_final_states(program: Program, memory: ModelSpec, reductions: frozenset[str]) -> None:
    expected = reference(program, memory)
    in_memory = tuple(Shared(variable_address(v)) for v in range(len(program.variables)))
    in_registers = tuple(
        RegisterOf(p, r)
        for p, process in enumerate(program.processes)
        for r, register in enumerate(process.registers)
        if not register.transient
    )
    for values in (in_memory, in_memory + in_registers):  # registers that nobody asks for may be dead
        native = explore(program, memory, Safety(failures=False, final_values=values), reductions=reductions)
        finals = {
            tuple(evaluate_in(program, state, 0, value) for value in values)
            for state in expected.states
            if is_final(program, state)
        }
        found = {state.values for state in native.final_states}
        assert found == finals if not memory.has_buffers or "slice" not in reductions else found >= finals


def quick(examples: int):
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(max_examples=examples, deadline=None, suppress_health_check=checks)


@pytest.mark.parametrize("memory", MEMORIES, ids=named)
@given(program=SUBJECTS)
@example(program=OVERWRITTEN)
@quick(40)
def test_the_states_without_reductions_are_those_of_the_reference(memory, program):
    check_states(program, memory)


@pytest.mark.parametrize("memory", MEMORIES, ids=named)
@given(program=SUBJECTS, data=st.data())
@quick(40)
def test_the_answers_with_any_reductions_are_those_of_the_reference(memory, program, data):
    check_answers(program, memory, data)


@pytest.mark.parametrize("memory", MEMORIES, ids=named)
@given(program=SUBJECTS)
@quick(20)
def test_the_final_states_with_all_reductions_are_those_of_the_reference(memory, program):
    check_final_states(program, memory, ALL - {"slice"})


@pytest.mark.parametrize("memory", (spec("sc"), spec("tso", 2), spec("pso", 2)), ids=named)
@given(program=programs(REGISTER_WORK) | programs(CHOICES), data=st.data())
@quick(100)
def test_steps_that_go_first_hide_no_state_of_the_others(memory, program, data):
    expected = reference(program, memory)
    seen = sorted(expected.states, key=repr)
    for _ in range(QUESTIONS):
        bad = data.draw(likely_questions(program, seen), label="bad")
        check_answer(program, memory, bad, expected, frozenset({"order"}))
    check_final_states(program, memory, frozenset({"order"}))


@pytest.mark.slow
@pytest.mark.parametrize("memory", MEMORIES, ids=named)
@given(program=SUBJECTS, data=st.data())
@quick(2_000)
def test_many_programs_agree_with_the_reference(memory, program, data):
    check_states(program, memory)
    check_answers(program, memory, data)
    check_final_states(program, memory, ALL)
