"""Unrolled code under SC, TSO and PSO, found by the solver, against the reference search in the program itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings

from memfence.axiomatic.library import models_named
from memfence.axiomatic.unroll import unroll
from memfence.axiomatic.unrolling.refusal import NotUnrolled
from memfence.engines.axiomatic.goals import Fails, ReachesCut
from memfence.engines.axiomatic.solve import Executions, Found
from memfence.models.steps import is_final
from memfence.program.expressions import TRUE, RegisterOf, Shared, variable_address
from memfence.program.ir import Final, Program
from support.generators.programs import Shape, programs
from support.models import spec
from twins.reference_search import explore

FEATURES = frozenset(
    {"fences", "sfences", "branches", "loops", "waits", "choices", "rmw", "orders", "arithmetic", "assertions"}
)
SHAPE = Shape(features=FEATURES, processes=(2, 2), statements=(1, 3), weights=(5, 2, 3))
BUFFER = 4


def agrees(program: Program, model: str, times: int) -> bool:
    """The same final states and failures where nothing is cut off, else no others."""
    reference = explore(program, spec(model, BUFFER).definition, most_states=30_000)
    assume(reference.complete)
    registers = [RegisterOf(p, r) for p, process in enumerate(program.processes) for r in range(len(process.registers))]
    observed = [*registers, *(Shared(variable_address(v)) for v in range(len(program.variables)))]
    final = Final("exists", TRUE, "all", tuple((str(n), expr) for n, expr in enumerate(observed)))
    try:
        executions = Executions(unroll(replace(program, properties=(final,)), times))
    except NotUnrolled:
        return True
    active = executions.add(models_named(model)[0])
    found = {outcome.values for outcome in executions.outcomes(active, observed)}
    ends = [state for state in reference.states if is_final(program, state)]
    expected = {tuple(v for values in state.registers for v in values) + state.memory for state in ends}
    failed, fails = bool(reference.failures), isinstance(executions.find(active, Fails()), Found)
    if isinstance(executions.find(active, ReachesCut()), Found):
        return found <= expected and (failed or not fails)
    return found == expected and failed == fails


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@given(program=programs(SHAPE))
@settings(max_examples=40, deadline=None)
def test_loops_unrolled_once_show_what_the_model_allows(model: str, program: Program) -> None:
    assert agrees(program, model, 1)
