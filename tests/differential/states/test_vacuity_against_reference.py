"""The statements that memfence says no run takes, against every run of the executable definition."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from memfence.models.spec import SPECS
from memfence.models.state import ProcessStep, State
from memfence.models.steps import is_final, successors
from memfence.program.ir import Program
from memfence.questions.vacuity import Search
from memfence.tasks.limits import Limits
from memfence.tasks.vacuity import Stuck
from support.generators.programs import Shape, programs
from twins.reference_search import explore

SHAPE = Shape(features=frozenset({"fences", "locked", "branches", "waits", "assertions", "steps"}))
MOST = 3_000


def by_definition(program: Program, model_name: str) -> tuple[set[tuple[int, int]], bool] | None:
    """The transitions that some run takes, and whether a run gets stuck; None where there are too many states."""
    model = SPECS[model_name].definition
    found = explore(program, model, most_states=MOST)
    if not found.complete or found.failures:
        return None
    taken, stuck = set(), False
    for state in found.states:
        ways = list(successors(program, model, state))
        taken |= {(step.process, step.transition) for step, _ in ways if isinstance(step, ProcessStep)}
        stuck |= not ways and not is_final(program, state)
        assert all(isinstance(after, State) for _, after in ways)
    return taken, stuck


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(program=programs(SHAPE))
def test_what_no_run_takes_and_where_all_are_stuck_is_what_the_definition_says(model: str, program: Program) -> None:
    defined = by_definition(program, model)
    search = Search(program, SPECS[model], Limits())
    if defined is None:
        return
    taken, stuck = defined
    assert search.taken() == taken
    assert any(isinstance(doubt, Stuck) for doubt in search.stuck(())) == stuck
