"""Any model with limited buffers: a store or `sfence` that does not fit has to wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from memfence.models.buffering import Buffering
from memfence.models.readings import StoreReading
from memfence.models.state import Buffer, State, Step
from memfence.models.steps import MemoryModel
from memfence.program.ir import FenceKind, Program
from memfence.program.orders import MemoryOrder
from memfence.records import Record


class Bounded(Record):
    """TSO(k), PSO(k): every FIFO holds at most `bound` entries, separators included."""

    inner: MemoryModel
    bound: int

    @property
    def name(self) -> str:
        return f"{self.inner.name}({self.bound})"

    @property
    def buffering(self) -> Buffering:
        return self.inner.buffering

    def empty_buffers(self, program: Program) -> tuple[tuple[Buffer, ...], ...]:
        return self.inner.empty_buffers(program)

    def load(self, program: Program, state: State, process: int, variable: int) -> int | None:
        return self.inner.load(program, state, process, variable)

    def store(self, program: Program, state: State, process: int, variable: int, value: int) -> State | None:
        return self._if_it_fits(self.inner.store(program, state, process, variable, value), process)

    def separate(self, program: Program, state: State, process: int) -> State | None:
        return self._if_it_fits(self.inner.separate(program, state, process), process)

    def reading_of_store(self, order: MemoryOrder) -> StoreReading:
        return self.inner.reading_of_store(order)

    def reading_of_fence(self, order: MemoryOrder) -> FenceKind | None:
        return self.inner.reading_of_fence(order)

    def background(self, program: Program, state: State, process: int) -> Iterator[tuple[Step, State]]:
        return self.inner.background(program, state, process)

    def _if_it_fits(self, after: State | None, process: int) -> State | None:
        if after is None or any(len(buffer) > self.bound for buffer in after.buffers[process]):
            return None
        return after


class BoundedPerVariable(Bounded):
    """TSO/var(k): at most `bound` pending stores per process and variable, the order among all of them kept.

    With bound 1 this is the under-approximation of Barnat, Brim and Havel, section III.
    """

    @property
    def name(self) -> str:
        return f"{self.inner.name}/var({self.bound})"

    def _if_it_fits(self, after: State | None, process: int) -> State | None:
        if after is None:
            return None
        pending = Counter(entry[0] for buffer in after.buffers[process] for entry in buffer if entry is not None)
        return None if any(count > self.bound for count in pending.values()) else after
