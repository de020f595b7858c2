"""Partial store order: one FIFO a process and variable, so stores to different variables overtake each other.

An `sfence` puts a separator into every buffer of its process; it leaves them in one step when it heads all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memfence.models.buffering import Buffering
from memfence.models.readings import StoreReading
from memfence.models.state import SEPARATOR, Buffer, Commit, DropSeparator, State, Step
from memfence.models.steps import set_at
from memfence.program.facts.effects import stored_variables
from memfence.program.ir import FenceKind, Program
from memfence.program.orders import MemoryOrder


class Pso:
    name = "pso"
    buffering = Buffering.PER_VARIABLE

    def empty_buffers(self, program: Program) -> tuple[tuple[Buffer, ...], ...]:
        return tuple(tuple(() for _ in stored_variables(p)) for p in program.processes)

    def load(self, program: Program, state: State, process: int, variable: int) -> int | None:
        """The newest own pending store to the variable wins over memory."""
        pending = (entry for buffer in state.buffers[process] for entry in buffer)
        own = [entry[1] for entry in pending if entry is not None and entry[0] == variable]
        return own[-1] if own else None

    def store(self, program: Program, state: State, process: int, variable: int, value: int) -> State | None:
        number = stored_variables(program.processes[process]).index(variable)
        buffers = state.buffers[process]
        longer = set_at(buffers, number, (*buffers[number], (variable, value)))
        return replace(state, buffers=set_at(state.buffers, process, longer))

    def separate(self, program: Program, state: State, process: int) -> State | None:
        separated = tuple((*buffer, SEPARATOR) for buffer in state.buffers[process])
        return replace(state, buffers=set_at(state.buffers, process, separated))

    def reading_of_store(self, order: MemoryOrder) -> StoreReading:
        """As under TSO, but what comes before a release store must not be overtaken by it."""
        if order is MemoryOrder.SEQ_CST:
            return StoreReading.LOCKED
        return StoreReading.SEPARATED if order.releases else StoreReading.PLAIN

    def reading_of_fence(self, order: MemoryOrder) -> FenceKind | None:
        if order is MemoryOrder.SEQ_CST:
            return "mfence"
        return "sfence" if order.releases else None

    def background(self, program: Program, state: State, process: int) -> Iterator[tuple[Step, State]]:
        """Commit: the oldest entry of one buffer reaches memory. Separators leave once they head all buffers."""
        buffers = state.buffers[process]
        for number, buffer in enumerate(buffers):
            if buffer and buffer[0] is not None:
                variable, value = buffer[0]
                rest = set_at(buffers, number, buffer[1:])
                memory = set_at(state.memory, variable, value)
                yield (
                    Commit(process, number),
                    replace(state, memory=memory, buffers=set_at(state.buffers, process, rest)),
                )
        if buffers and all(buffer and buffer[0] is SEPARATOR for buffer in buffers):
            rest = tuple(buffer[1:] for buffer in buffers)
            yield DropSeparator(process), replace(state, buffers=set_at(state.buffers, process, rest))
