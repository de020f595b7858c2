"""How a set of states stands in a certificate: as sorted rows of numbers, each byte of a row in a plane of its own.

The columns of a row: the location of each process; memory; the owner of the bus lock (0: nobody), where the program has
one; the registers that are kept between steps; then, process by process, its buffers: how many entries are pending, and
the entries, oldest first. A number is written as its distance from the least value of its column, in 1, 2, 4 or 8
bytes, the highest first; in 9 where a separator stands behind all values of 64 bits. So rows are ordered like byte
strings, and planes of slowly changing columns pack well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memfence.certificates.format.container import NotACertificate
from memfence.models.buffering import Buffering
from memfence.models.state import SEPARATOR, Buffer, Entry, State
from memfence.program.facts.effects import stored_variables
from memfence.program.ir import Lock, Program
from memfence.records import Record

ROWS_IN_A_BLOCK = 1 << 15
WIDEST_ROW = 1 << 10
"""Bytes."""
MOST_PENDING = 64
WIDTHS = (1, 2, 4, 8, 9)
"""How many bytes a number may take."""


class Column(NamedTuple):
    """The values `lo` .. `hi`, and how many bytes each takes."""

    lo: int
    hi: int
    width: int


def column_of(lo: int, hi: int) -> Column:
    """The column of the values `lo` .. `hi`."""
    return Column(lo, hi, next(width for width in WIDTHS if hi - lo < 1 << (8 * width)))


class BufferColumns(Record):
    """The columns of one buffer of `process`, from `first` on: its length, then `capacity` entries.

    An entry is a variable and a value where one buffer takes all stores; else only a value of `variable`, or the number
    behind the greatest one for a separator.
    """

    process: int
    first: int
    capacity: int
    variable: int | None


class Columns:
    """The columns of `program` with buffers of at most `capacity` entries each."""

    def __init__(self, program: Program, buffering: Buffering, capacity: int) -> None:
        if not 0 <= capacity <= MOST_PENDING:
            raise NotACertificate(f"buffers with {capacity} entries; at most {MOST_PENDING} are allowed")
        self.program = program
        self.buffering = buffering
        self.kept = [
            [n for n, register in enumerate(process.registers) if not register.transient]
            for process in program.processes
        ]
        self.columns = [column_of(0, len(process.locations) - 1) for process in program.processes]
        self.memory_at = len(self.columns)
        self.columns += [column_of(variable.domain.lo, variable.domain.hi) for variable in program.variables]
        self.lock_at = len(self.columns) if _has_lock(program) else None
        self.columns += [column_of(0, len(program.processes))] if self.lock_at is not None else []
        self.registers_at = list[int]()
        for process, kept in zip(program.processes, self.kept, strict=True):
            self.registers_at.append(len(self.columns))
            self.columns += [column_of(process.registers[n].domain.lo, process.registers[n].domain.hi) for n in kept]
        self.buffers = [self._add_buffers(p, capacity) for p, _ in enumerate(program.processes)]
        self.width = sum(column.width for column in self.columns)
        if self.width > WIDEST_ROW:
            raise NotACertificate(f"states of {self.width} bytes; {WIDEST_ROW} are allowed")

    def _add_buffers(self, process: int, capacity: int) -> list[BufferColumns]:
        if not self.buffering.delays_stores:
            return []
        stored = stored_variables(self.program.processes[process])
        domains = [self.program.variables[v].domain for v in stored]
        match self.buffering:
            case Buffering.NOWHERE:
                return []
            case Buffering.PER_PROCESS:
                room = capacity if stored else 0
                added = [BufferColumns(process, len(self.columns), room, None)]
                self.columns.append(column_of(0, room))
                if room:
                    lo, hi = min(d.lo for d in domains), max(d.hi for d in domains)
                    self.columns += [column_of(0, len(self.program.variables) - 1), column_of(lo, hi)] * room
                return added
            case Buffering.PER_VARIABLE:
                added = []
                for variable, domain in zip(stored, domains, strict=True):
                    added.append(BufferColumns(process, len(self.columns), capacity, variable))
                    self.columns += [column_of(0, capacity), *[column_of(domain.lo, domain.hi + 1)] * capacity]
                return added

    def rows(self, block: bytes) -> Iterator[bytes]:
        """The rows of a block, as byte strings."""
        return planes(block, self.width)

    def state(self, row: bytes) -> State:
        """The state that a row stands for. NotACertificate for a row that stands for none, or not in the one way."""
        values, at = list[int](), 0
        for column in self.columns:
            value = column.lo + int.from_bytes(row[at : at + column.width])
            if value > column.hi:
                raise NotACertificate(f"{value} is no value of its column; {column.hi} is the greatest")
            values.append(value)
            at += column.width
        return self._state(values)

    def _state(self, values: Sequence[int]) -> State:
        registers = list[tuple[int, ...]]()
        for process, kept, at in zip(self.program.processes, self.kept, self.registers_at, strict=True):
            found = dict(zip(kept, values[at : at + len(kept)], strict=True))
            registers.append(tuple(found.get(n, 0) for n, _ in enumerate(process.registers)))
        owner = 0 if self.lock_at is None else values[self.lock_at]
        return State(
            tuple(values[: self.memory_at]),
            tuple(registers),
            tuple(values[self.memory_at : self.memory_at + len(self.program.variables)]),
            tuple(tuple(self._buffer(buffer, values) for buffer in buffers) for buffers in self.buffers),
            owner - 1 if owner else None,
        )

    def _buffer(self, buffer: BufferColumns, values: Sequence[int]) -> Buffer:
        length, at = values[buffer.first], buffer.first + 1
        end = at + buffer.capacity * (2 if buffer.variable is None else 1)
        used = at + length * (2 if buffer.variable is None else 1)
        if any(values[n] != self.columns[n].lo for n in range(used, end)):
            raise NotACertificate("there is something behind the end of a buffer")
        if buffer.variable is None:
            return tuple((values[n], values[n + 1]) for n in range(at, used, 2))
        return tuple(self._entry(buffer.variable, value) for value in values[at:used])

    def _entry(self, variable: int, value: int) -> Entry:
        return SEPARATOR if value > self.program.variables[variable].domain.hi else (variable, value)


def _has_lock(program: Program) -> bool:
    return any(isinstance(op, Lock) for p in program.processes for t in p.transitions for op in t.ops)


def planes(block: bytes, width: int) -> Iterator[bytes]:
    """The rows, of so many bytes each, of a block of planes."""
    count, rest = divmod(len(block), width) if width else (0, 1)
    if rest or not 0 < count <= ROWS_IN_A_BLOCK:
        raise NotACertificate("a block does not consist of whole states")
    return map(bytes, zip(*(block[at : at + count] for at in range(0, len(block), count)), strict=True))


def row_of(columns: Columns, state: State) -> bytes:
    """The row of a state."""
    values = [*state.locations, *state.memory]
    if columns.lock_at is not None:
        values.append(0 if state.lock_owner is None else state.lock_owner + 1)
    for registers, kept in zip(state.registers, columns.kept, strict=True):
        values += [registers[n] for n in kept]
    for buffers, own in zip(state.buffers, columns.buffers, strict=True):
        for buffer, place in zip(buffers, own, strict=True):
            values.append(len(buffer))
            for n in range(place.capacity):
                entry = buffer[n] if n < len(buffer) else ()
                values += _entry(columns, place.variable, len(values), entry)
    return b"".join(
        (value - column.lo).to_bytes(column.width) for value, column in zip(values, columns.columns, strict=True)
    )


def _entry(columns: Columns, variable: int | None, at: int, entry: tuple[int, ...] | None) -> list[int]:
    lows = [column.lo for column in columns.columns[at : at + (2 if variable is None else 1)]]
    if entry == ():
        return lows
    if entry is None:
        assert variable is not None
        return [columns.program.variables[variable].domain.hi + 1]
    return list(entry) if variable is None else [entry[1]]
