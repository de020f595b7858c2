"""Sequential consistency: a store reaches memory at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memfence.models.buffering import Buffering
from memfence.models.readings import StoreReading
from memfence.models.state import Buffer, State, Step
from memfence.models.steps import set_at
from memfence.program.ir import FenceKind, Program
from memfence.program.orders import MemoryOrder


class Sc:
    name = "sc"
    buffering = Buffering.NOWHERE

    def empty_buffers(self, program: Program) -> tuple[tuple[Buffer, ...], ...]:
        return tuple(() for _ in program.processes)

    def load(self, program: Program, state: State, process: int, variable: int) -> int | None:
        return None

    def store(self, program: Program, state: State, process: int, variable: int, value: int) -> State | None:
        if state.lock_owner not in (None, process):
            return None
        return replace(state, memory=set_at(state.memory, variable, value))

    def separate(self, program: Program, state: State, process: int) -> State | None:
        return state

    def reading_of_store(self, order: MemoryOrder) -> StoreReading:
        return StoreReading.PLAIN

    def reading_of_fence(self, order: MemoryOrder) -> FenceKind | None:
        return "mfence" if order is MemoryOrder.SEQ_CST else None

    def background(self, program: Program, state: State, process: int) -> Iterator[tuple[Step, State]]:
        return iter(())
