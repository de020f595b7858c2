"""`--final` against its definition: the condition in every final state that the reference search finds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from memfence.models.spec import SPECS
from memfence.models.steps import evaluate_in, is_final
from memfence.program.expressions import Binary, Const, Shared, variable_address
from memfence.program.ir import Final, Program
from memfence.questions import check
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.generators.programs import Shape, programs
from twins.reference_search import explore

SHAPE = Shape(features=frozenset({"fences", "locked", "branches", "waits", "steps"}))
CONDITION = Binary("==", Shared(variable_address(0)), Shared(variable_address(1)))
CONDITIONS = (CONDITION, Binary("<=", Shared(variable_address(0)), Const(1)))
MOST = 3_000


def holds_by_definition(program: Program, model: str, condition: Binary) -> bool | None:
    rules = SPECS[model].definition
    found = explore(program, rules, most_states=MOST)
    if not found.complete:
        return None
    ends = [state for state in found.states if is_final(program, state)]
    return all(evaluate_in(program, state, 0, condition) for state in ends)


@pytest.mark.parametrize("engine", ["auto", "explicit", "symbolic"])
@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@settings(max_examples=15, deadline=None, derandomize=True)
@given(program=programs(SHAPE))
def test_a_final_property_is_about_the_final_states_and_no_others(model: str, engine: str, program: Program) -> None:
    for condition in CONDITIONS:
        expected = holds_by_definition(program, model, condition)
        if expected is None:
            continue
        asked = CheckOptions(model=SPECS[model].name, final=(Final("forall", condition, "c"),), engine=engine)  # type: ignore[arg-type]
        result = check(program, asked)
        if result.verdict is Verdict.UNKNOWN and engine == "symbolic":
            continue
        assert result.verdict is (Verdict.HOLDS if expected else Verdict.VIOLATED)
        if result.trace is not None:
            assert is_final(program, result.trace.end)
            assert not evaluate_in(program, result.trace.end, 0, condition)
