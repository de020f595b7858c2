"""Memory models by name, as tests are parametrised with them: their values, and their executable definitions."""

from __future__ import annotations

from memfence.models.spec import SPECS, ModelSpec
from memfence.models.steps import MemoryModel


def spec(name: str | ModelSpec, bound: int = 0, per_variable: bool = False) -> ModelSpec:
    """The model of that name; bounded, if `bound` is not 0."""
    model = SPECS[name] if isinstance(name, str) else name
    return model.bounded(bound, per_variable=per_variable) if bound else model


def memory_model(name: str, *, bound: int | None = None, per_variable: bool = False) -> MemoryModel:
    """The executable definition of the model."""
    return spec(name, bound or 0, per_variable).definition
