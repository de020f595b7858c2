"""Total store order: one FIFO store buffer a process (Owens, Sarkar and Sewell's x86-TSO)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memfence.models.buffering import Buffering
from memfence.models.readings import StoreReading
from memfence.models.state import Buffer, Commit, State, Step
from memfence.models.steps import set_at
from memfence.program.ir import FenceKind, Program
from memfence.program.orders import MemoryOrder


class Tso:
    name = "tso"
    buffering = Buffering.PER_PROCESS

    def empty_buffers(self, program: Program) -> tuple[tuple[Buffer, ...], ...]:
        return tuple(((),) for _ in program.processes)

    def load(self, program: Program, state: State, process: int, variable: int) -> int | None:
        """The newest own pending store to the variable wins over memory."""
        own = [entry[1] for entry in state.buffers[process][0] if entry is not None and entry[0] == variable]
        return own[-1] if own else None

    def store(self, program: Program, state: State, process: int, variable: int, value: int) -> State | None:
        longer = (*state.buffers[process][0], (variable, value))
        return replace(state, buffers=set_at(state.buffers, process, (longer,)))

    def separate(self, program: Program, state: State, process: int) -> State | None:
        return state  # stores never overtake stores: nothing to separate

    def reading_of_store(self, order: MemoryOrder) -> StoreReading:
        """A seq_cst store is an `xchg`: nothing of the process is pending before it, nothing after it."""
        return StoreReading.LOCKED if order is MemoryOrder.SEQ_CST else StoreReading.PLAIN

    def reading_of_fence(self, order: MemoryOrder) -> FenceKind | None:
        return "mfence" if order is MemoryOrder.SEQ_CST else None

    def background(self, program: Program, state: State, process: int) -> Iterator[tuple[Step, State]]:
        """Commit: the oldest pending store reaches memory."""
        (buffer,) = state.buffers[process]
        if buffer and buffer[0] is not None:
            variable, value = buffer[0]
            memory = set_at(state.memory, variable, value)
            yield Commit(process), replace(state, memory=memory, buffers=set_at(state.buffers, process, (buffer[1:],)))
