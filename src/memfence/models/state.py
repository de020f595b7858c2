"""A state of a running program, and the steps that lead from one to the next."""

from __future__ import annotations

from itertools import product
from typing import Final as Constant

from memfence.program.ir import Program
from memfence.records import Record

SEPARATOR: Constant = None
"""What a PSO `sfence` leaves in each buffer of its process."""

Entry = tuple[int, int] | None
"""A pending store (variable, value), or the separator."""

Buffer = tuple[Entry, ...]
"""Oldest entry first."""


class State(Record):
    """`buffers[p]`: the FIFOs of process p; none under SC, one under TSO, one a stored variable under PSO.

    `lock_owner` is the process that holds the bus lock.
    """

    locations: tuple[int, ...]
    registers: tuple[tuple[int, ...], ...]
    memory: tuple[int, ...]
    buffers: tuple[tuple[Buffer, ...], ...]
    lock_owner: int | None = None

    @property
    def is_plain(self) -> bool:
        """Whether no store is pending."""
        return not any(buffer for buffers in self.buffers for buffer in buffers)


class ProcessStep(Record):
    """A process takes one of its transitions (by number)."""

    process: int
    transition: int


class Rendezvous(Record):
    """Two processes take matching transitions together."""

    sender: ProcessStep
    receiver: ProcessStep


class Commit(Record):
    """The oldest entry of a buffer reaches memory: under TSO `buffer` is 0, under PSO the buffer's number."""

    process: int
    buffer: int = 0


class DropSeparator(Record):
    """The separator that heads all buffers of the process leaves them (PSO)."""

    process: int


Step = ProcessStep | Rendezvous | Commit | DropSeparator


class Failure(Record):
    """The program under test failed in this step: an assertion, or a run-time error."""

    reason: str
    is_assertion: bool


def initial_states(program: Program, buffers: tuple[tuple[Buffer, ...], ...]) -> tuple[State, ...]:
    """Every initial state: the product of the initial values, in a fixed order."""
    memories = product(*(v.init for v in program.variables))
    registers = list(
        product(*(product(*((0,) if r.transient else r.init for r in p.registers)) for p in program.processes))
    )
    locations = tuple(p.initial for p in program.processes)
    return tuple(State(locations, r, m, buffers) for m in memories for r in registers)
