"""Memory models as values: what tells them apart is asked of a `ModelSpec`, never of its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from memfence.models.bounded import Bounded, BoundedPerVariable
from memfence.models.buffering import Buffering
from memfence.models.pso import Pso
from memfence.models.readings import StoreReading
from memfence.models.sc import Sc
from memfence.models.steps import MemoryModel
from memfence.models.tso import Tso
from memfence.program.ir import FenceKind
from memfence.program.orders import MemoryOrder
from memfence.records import Record

ModelName = Literal["sc", "tso", "pso"]


class ModelSpec(Record):
    """A memory model, with a bound on its buffers or without.

    `fence_kinds`: the fences that order something here. `bound`: at most so many pending stores in a queue, or, where
    `per_variable` is set, of each process and variable.
    """

    name: ModelName
    buffering: Buffering
    fence_kinds: tuple[FenceKind, ...]
    bound: int | None = None
    per_variable: bool = False

    @property
    def has_buffers(self) -> bool:
        """Whether stores are delayed at all: if not, this is sequential consistency."""
        return self.buffering.delays_stores

    @property
    def reorders_stores(self) -> bool:
        """Whether a store can overtake an earlier store of its process."""
        return self.buffering.reorders_stores

    @property
    def is_bounded(self) -> bool:
        return self.bound is not None

    def bounded(self, bound: int, *, per_variable: bool = False) -> ModelSpec:
        """This model with limited buffers; SC has none and stays as it is."""
        return replace(self, bound=bound, per_variable=per_variable) if self.has_buffers else self

    @property
    def unbounded(self) -> ModelSpec:
        return replace(self, bound=None, per_variable=False)

    @property
    def definition(self) -> MemoryModel:
        """The executable definition: the rules that every run is replayed by."""
        rules: dict[Buffering, MemoryModel] = {
            Buffering.NOWHERE: Sc(),
            Buffering.PER_PROCESS: Tso(),
            Buffering.PER_VARIABLE: Pso(),
        }
        inner = rules[self.buffering]
        if self.bound is None:
            return inner
        return BoundedPerVariable(inner, self.bound) if self.per_variable else Bounded(inner, self.bound)

    def reading_of_store(self, order: MemoryOrder) -> StoreReading:
        """How a store of this order is performed."""
        return self.definition.reading_of_store(order)

    def reading_of_fence(self, order: MemoryOrder) -> FenceKind | None:
        """The fence that a `thread_fence` of this order becomes; None: it only keeps compilers from moving things."""
        return self.definition.reading_of_fence(order)


class Axioms(Record):
    """A model by its text: a name of the catalogue, or the path of a user's file."""

    name: str


SC = ModelSpec("sc", Buffering.NOWHERE, ())
TSO = ModelSpec("tso", Buffering.PER_PROCESS, ("mfence",))
PSO = ModelSpec("pso", Buffering.PER_VARIABLE, ("mfence", "sfence"))

SPECS: dict[str, ModelSpec] = {spec.name: spec for spec in (SC, TSO, PSO)}
"""Every model by the name that users write."""
