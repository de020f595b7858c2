"""The executable definition of the memory models: textbook rules in plain Python, no search, no cleverness.

Every test compares with this, and every counterexample is replayed through it before it is shown. Read `state`, then
`steps` (what a transition does), then one model: `sc`, `tso`, `pso`; `bounded` limits the buffers of any of them;
`readings` says what memory orders are.
"""

from __future__ import annotations

from typing import Literal

from memfence.models.bounded import Bounded, BoundedPerVariable
from memfence.models.pso import Pso
from memfence.models.sc import Sc
from memfence.models.steps import MemoryModel
from memfence.models.tso import Tso

ModelName = Literal["sc", "tso", "pso"]


def memory_model(name: ModelName, *, bound: int | None = None, per_variable: bool = False) -> MemoryModel:
    """The model of that name; `bound` limits every buffer, or every variable's share of it with `per_variable`."""
    models: dict[ModelName, MemoryModel] = {"sc": Sc(), "tso": Tso(), "pso": Pso()}
    model = models[name]
    if bound is None or name == "sc":
        return model
    return BoundedPerVariable(model, bound) if per_variable else Bounded(model, bound)


__all__ = ["Bounded", "BoundedPerVariable", "MemoryModel", "ModelName", "Pso", "Sc", "Tso", "memory_model"]
