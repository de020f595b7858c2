"""Where processes come to their end, and what it means that all of them have."""

from __future__ import annotations

from memfence.program.expressions import At, BufferEmpty, Expr, conjunction
from memfence.program.ir import Process, Program


def halting_locations(process: Process) -> frozenset[int]:
    """The locations that no transition leaves."""
    left = {transition.source for transition in process.transitions}
    return frozenset(number for number, _ in enumerate(process.locations) if number not in left)


def has_ended(process: int, ends: frozenset[int]) -> Expr:
    """True where the process stands at one of its `ends` with nothing pending: what a join waits for."""
    return conjunction(At(process, ends), BufferEmpty(process))


def all_have_ended(program: Program) -> Expr:
    """True in final states: every process has halted, every buffer is empty."""
    processes = enumerate(program.processes)
    return conjunction(*(has_ended(number, halting_locations(process)) for number, process in processes))
