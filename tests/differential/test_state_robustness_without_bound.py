"""State-robustness with buffers of any length: the symbolic engine against the explicit one with growing bounds."""

from __future__ import annotations

import pytest

from cyclic_programs import cyclic_program
from memfence.engines.native.explicit import Bounded
from memfence.engines.native.state_robustness import ScStates, explore_sc_states, explore_strays, explore_unbounded
from memfence.engines.native.symbolic import UnboundedModel
from memfence.questions import check
from memfence.tasks.limits import Limits
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import Verdict

MODELS: tuple[UnboundedModel, ...] = ("tso", "pso")
LIMITS = Limits(timeout_seconds=20)


def has_stray(sc: ScStates, model: UnboundedModel) -> bool:
    """Whether some bound up to 6 is enough to find a state that SC does not reach."""
    for bound in range(1, 7):
        strays = explore_strays(sc, Bounded(model, bound), LIMITS)
        if strays.found or strays.complete:
            return strays.found
    return False


def agree(seeds: range) -> tuple[int, int]:
    """How many programs have buffers without bound, and how many a state that is new."""
    endless = new = 0
    for seed in seeds:
        for model in MODELS:
            sc = explore_sc_states(cyclic_program(seed), model, LIMITS)
            unbounded = explore_unbounded(sc, LIMITS)
            assert unbounded is not None and unbounded.complete, (seed, model)
            stray = has_stray(sc, model)
            assert unbounded.all_under_sc == (not stray), (seed, model)
            endless += not stray and not explore_strays(sc, Bounded(model, 6), LIMITS).complete
            new += stray
    return endless, new


def test_the_states_of_unbounded_buffers_are_those_of_the_limit() -> None:
    endless, new = agree(range(150))
    assert endless > 50 and new >= 1


@pytest.mark.slow
def test_the_states_of_unbounded_buffers_are_those_of_the_limit_in_many_programs() -> None:
    endless, new = agree(range(150, 3_000))
    assert endless > 500 and new > 50


@pytest.mark.parametrize("model", MODELS)
def test_every_cyclic_program_is_decided(model: UnboundedModel) -> None:
    engines = set()
    for seed in range(150):
        result = check(cyclic_program(seed), CheckOptions(model=model, criterion="state-robust"))
        assert result.verdict in (Verdict.HOLDS, Verdict.VIOLATED), seed
        engines.add(result.engine)
    assert "symbolic" in engines
