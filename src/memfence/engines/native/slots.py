"""Where things stand in a native state: the numbering that the core and the encoder agree on.

The shared variables; the owner of the bus lock, if lock regions with cycles are left; then for each process its
location, the number of its pending stores, and its registers. The core appends the slots of its buffers.
"""

from __future__ import annotations

from memfence.program.ir import Lock, Program, Unlock
from memfence.records import Record


class Slots(Record):
    """Where things stand in a native state."""

    variables: int
    lock: int | None
    locations: tuple[int, ...]
    registers: tuple[int, ...]  # the first of each process
    count: int

    def pending(self, process: int) -> int:
        return self.locations[process] + 1

    def register(self, process: int, register: int) -> int:
        return self.registers[process] + register


def number_slots(program: Program) -> Slots:
    """The numbering that the core and this module agree on."""
    at = len(program.variables)
    uses_lock = any(isinstance(op, Lock | Unlock) for p in program.processes for t in p.transitions for op in t.ops)
    lock = at if uses_lock else None
    at += uses_lock
    locations, registers = [], []
    for process in program.processes:
        locations.append(at)
        registers.append(at + 2)
        at += 2 + len(process.registers)
    return Slots(len(program.variables), lock, tuple(locations), tuple(registers), at)
