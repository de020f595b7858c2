"""State-robustness with buffers of any length: the symbolic engine against the explicit one with growing bounds."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from memfence.engines.native.state_robustness import (
    ScStates,
    explore_non_sc_states,
    explore_sc_states,
    explore_unbounded,
)
from memfence.models.spec import PSO, TSO, ModelSpec
from memfence.program.ir import Program
from memfence.questions import check
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Limits
from memfence.tasks.options import CheckOptions
from support.generators.cycles import looping_cycles
from support.generators.cyclic_programs import cyclic_program
from support.models import spec

MODELS: tuple[ModelSpec, ...] = (TSO, PSO)
LIMITS = Limits(timeout_seconds=20)


def has_stray(sc: ScStates, model: ModelSpec) -> bool:
    """Whether some bound up to 6 is enough to find a state that SC does not reach."""
    for bound in range(1, 7):
        strays = explore_non_sc_states(sc, spec(model, bound), LIMITS)
        if strays.found or strays.complete:
            return strays.found
    return False


def check_states(programs: Iterable[Program]) -> tuple[int, int]:
    """How many programs have buffers without bound, and how many a state that is new."""
    endless = new = 0
    for program in programs:
        for model in MODELS:
            sc = explore_sc_states(program, model, LIMITS)
            unbounded = explore_unbounded(sc, LIMITS)
            assert unbounded.complete, (program.name, model)
            stray = has_stray(sc, model)
            assert unbounded.all_under_sc == (not stray), (program.name, model)
            endless += not stray and not explore_non_sc_states(sc, spec(model, 6), LIMITS).complete
            new += stray
    return endless, new


def test_the_states_of_unbounded_buffers_are_those_of_the_limit() -> None:
    endless, new = check_states([*looping_cycles(4), *map(cyclic_program, range(100))])
    assert endless > 50 and new > 20


@pytest.mark.slow
def test_the_states_of_unbounded_buffers_are_those_of_the_limit_in_many_programs() -> None:
    endless, new = check_states(map(cyclic_program, range(150, 3_000)))
    assert endless > 500 and new > 50


@pytest.mark.parametrize("model", MODELS)
def test_every_cyclic_program_is_decided(model: ModelSpec) -> None:
    engines = set()
    for seed in range(100):
        result = check(cyclic_program(seed), CheckOptions(model=model.name, criterion="state-robust"))
        assert result.verdict in (Verdict.HOLDS, Verdict.VIOLATED), seed
        engines.add(result.engine)
    assert "symbolic" in engines
