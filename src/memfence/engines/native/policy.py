"""The memory-model policies that the core was compiled with, by number."""

from __future__ import annotations

from memfence.models.buffering import Buffering
from memfence.models.spec import ModelSpec

_POLICIES = {Buffering.NOWHERE: 0, Buffering.PER_PROCESS: 1, Buffering.PER_VARIABLE: 3}
_PER_VARIABLE_OF_A_PROCESS = 2


def policy_of(model: ModelSpec) -> tuple[int, int]:
    """The number of the policy, and its bound (0 where there are no buffers). The core explores bounded models only."""
    assert model.is_bounded or not model.has_buffers, "an explicit search needs a bound"
    number = _PER_VARIABLE_OF_A_PROCESS if model.per_variable else _POLICIES[model.buffering]
    return number, model.bound or 0
