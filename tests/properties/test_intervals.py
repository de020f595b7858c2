"""The interval analysis never leaves out a value that some run produces."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memfence.models.state import State
from memfence.models.steps import MemoryModel
from memfence.passes.intervals import bound_values
from memfence.program.ir import UNDECLARED, Domain, Program
from memfence.program.validate import validate
from support.generators.programs import EVERYTHING, Shape, programs
from support.models import memory_model
from twins.reference_search import explore

MODELS = [memory_model("sc"), memory_model("tso", bound=2), memory_model("pso", bound=2)]
MODEL = st.sampled_from(MODELS)
WIDE = Domain(-(2**31), 2**31 - 1, "wrap")

COUNTING = Shape(features=EVERYTHING | {"counting"}, weights=(4, 5, 1), domain=UNDECLARED)
DECLARED = Shape(features=EVERYTHING | {"errors"}, statements=(2, 3))
WRAPPING = Shape(features=EVERYTHING | {"counting"}, statements=(2, 3), domain=Domain(-2, 5, "wrap"))


def with_domain(program: Program, domain: Domain) -> Program:
    """The program with every range replaced."""
    return replace(
        program,
        variables=tuple(replace(v, domain=domain) for v in program.variables),
        processes=tuple(
            replace(p, registers=tuple(replace(r, domain=domain) for r in p.registers)) for p in program.processes
        ),
    )


def lies_inside(program: Program, state: State) -> bool:
    """Whether every value of the state, pending stores included, lies in the range that `program` gives it."""

    def fits(domain: Domain, value: int) -> bool:
        return domain.lo <= value <= domain.hi

    pending = [entry for buffers in state.buffers for buffer in buffers for entry in buffer if entry is not None]
    return (
        all(fits(v.domain, value) for v, value in zip(program.variables, state.memory, strict=True))
        and all(fits(program.variables[n].domain, value) for n, value in pending)
        and all(
            fits(register.domain, value)
            for process, values in zip(program.processes, state.registers, strict=True)
            for register, value in zip(process.registers, values, strict=True)
        )
    )


@given(programs(COUNTING), MODEL)
@settings(max_examples=150, deadline=None)
def test_every_value_of_an_unbounded_run_lies_in_the_inferred_range_where_nothing_wraps(
    program: Program, model: MemoryModel
) -> None:
    bounded = bound_values(program, 8)
    validate(bounded)
    if not bounded.notes:
        wide = explore(with_domain(program, WIDE), model, most_states=1500)
        assert all(lies_inside(bounded, state) for state in wide.states)


@given(programs(COUNTING), MODEL)
@settings(max_examples=150, deadline=None)
def test_an_inferred_range_is_never_left_even_where_other_values_wrap(program: Program, model: MemoryModel) -> None:
    bounded = bound_values(program, 3)
    validate(bounded)
    assert not explore(bounded, model, most_states=1500).failures


@pytest.mark.parametrize("shape", [DECLARED, WRAPPING], ids=["error", "wrap"])
@given(st.data())
@settings(max_examples=60, deadline=None)
def test_narrowing_a_declared_range_changes_no_state_and_no_error(shape: Shape, data: st.DataObject) -> None:
    program, model = data.draw(programs(shape)), data.draw(MODEL)
    bounded = bound_values(program, 8)
    before, after = explore(program, model, most_states=3000), explore(bounded, model, most_states=3000)
    if before.complete:
        assert after.complete
        assert before.states == after.states
        assert before.has_runtime_error == after.has_runtime_error
        assert not bounded.notes
