"""From the states of a native search to the rows of a certificate: which slot goes to which column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Protocol

from memfence.certificates.format.abridged import Abridgement
from memfence.certificates.format.columns import MOST_PENDING, ROWS_IN_A_BLOCK, BufferColumns, Column, Columns
from memfence.certificates.writer.chunks import NoCertificate
from memfence.engines.native.decode import size_of_pso_buffer
from memfence.engines.native.encode import Encoded, uses_sfence
from memfence.engines.native.explicit import RowColumn, RowOrder
from memfence.models.buffering import Buffering
from memfence.models.spec import ModelSpec
from memfence.program.facts.effects import stored_variables
from memfence.program.ir import Program

WORD = 8
"""Bytes that the core writes for one number."""
NOWHERE = 1 << 30
"""Behind the end of every buffer."""

Parts = tuple[RowColumn, ...]
"""What one column is made of: one number of the core, or two."""


class Visited(Protocol):
    """A search that is over: the machine that it went through, and its states as rows."""

    @property
    def model(self) -> ModelSpec: ...
    @property
    def encoded(self) -> Encoded: ...
    @property
    def reduced(self) -> Program: ...
    def rows(self, columns: Sequence[RowColumn], order: RowOrder, rows_in_a_block: int) -> Iterator[bytes]: ...


def blocks_of(explored: Visited, columns: Columns, left_out: Abridgement) -> Iterator[bytes]:
    """Every state that the search visited, as blocks of rows; processes that are alike in the order of the format."""
    taken = list(_row_columns(explored, columns))
    order = _order(columns, taken, left_out.alike)
    return explored.rows([part for parts in taken for part in parts], order, ROWS_IN_A_BLOCK)


def _order(columns: Columns, taken: Sequence[Parts], alike: tuple[tuple[int, ...], ...]) -> RowOrder:
    """How to sort processes; not at all where the search has the same order: by location and registers."""
    if columns.lock_at is None and not columns.buffering.delays_stores:
        return RowOrder()
    ends = list(accumulate(map(len, taken)))

    def parts_of(column: int) -> range:
        return range(ends[column] - len(taken[column]), ends[column])

    def own_parts(process: int) -> tuple[int, ...]:
        return tuple(n for column in _own_columns(columns, process) for n in parts_of(column))

    members = [tuple((own_parts(p), p + 1) for p in processes) for processes in alike]
    return RowOrder(tuple(members), -1 if columns.lock_at is None else parts_of(columns.lock_at).start)


def _own_columns(columns: Columns, process: int) -> Iterator[int]:
    """The columns of the local part of a process."""
    yield process
    first = columns.registers_at[process]
    yield from range(first, first + len(columns.kept[process]))
    for buffer in columns.buffers[process]:
        places = 2 if buffer.variable is None else 1
        yield from range(buffer.first, buffer.first + 1 + places * buffer.capacity)


def capacity_of(program: Program, model: ModelSpec) -> int:
    """Room for all that may be pending in a buffer of the bounded model."""
    each = max((len(stored_variables(process)) for process in program.processes), default=0)
    capacity = (model.bound or 0) * (each if model.per_variable else 1)
    if capacity > MOST_PENDING:
        raise NoCertificate("the buffers are too large")
    return capacity


def _row_columns(explored: Visited, columns: Columns) -> Iterator[Parts]:
    """What each column is made of."""
    slots = explored.encoded.slots
    taken = [*slots.locations, *range(len(columns.program.variables))]
    if columns.lock_at is not None:
        assert slots.lock is not None
        taken.append(slots.lock)
    for p, kept in enumerate(columns.kept):
        taken += [slots.register(p, n) for n in kept]
    for slot, column in zip(taken, columns.columns, strict=False):
        yield (RowColumn(slot, column.lo, column.width),)
    at = slots.count
    for buffers in columns.buffers:
        for buffer in buffers:
            yield from _buffer(explored, columns, buffer, at)
            at += _slots_of(explored, buffer)


def _slots_of(explored: Visited, buffer: BufferColumns) -> int:
    if buffer.variable is None:
        return 2 * _room(explored, buffer)
    return size_of_pso_buffer(explored.encoded.program.processes[buffer.process], buffer.capacity)


def _room(explored: Visited, buffer: BufferColumns) -> int:
    """How many entries the search keeps of the queue of a process: where each variable has a bound, what they allow."""
    model = explored.model
    if buffer.capacity == 0 or not model.per_variable:
        return buffer.capacity
    return (model.bound or 0) * len(stored_variables(explored.encoded.program.processes[buffer.process]))


def _buffer(explored: Visited, columns: Columns, buffer: BufferColumns, at: int) -> Iterator[Parts]:
    """The columns of a buffer whose slots start at `at`."""
    process = explored.encoded.program.processes[buffer.process]
    entries = columns.columns[buffer.first + 1 :]
    if columns.buffering is Buffering.PER_PROCESS:
        length = explored.encoded.slots.pending(buffer.process)
        yield (RowColumn(length, 0, columns.columns[buffer.first].width),)
        room = 2 * _room(explored, buffer)
        for n in range(2 * buffer.capacity):
            slot = at + n if n < room else length
            yield (RowColumn(slot, entries[n].lo, entries[n].width, length, n // 2),)
        return
    assert buffer.variable is not None
    separator = explored.encoded.program.variables[buffer.variable].domain.size
    yield (RowColumn(at, 0, columns.columns[buffer.first].width),)
    for n in range(buffer.capacity):
        slot = at + 1 + n
        mark = slot + buffer.capacity if uses_sfence(process) else None
        yield _pso_entry(entries[n], RowColumn(slot, entries[n].lo, entries[n].width, at, n), mark, separator)


def _pso_entry(column: Column, value: RowColumn, mark: int | None, separator: int) -> Parts:
    """The value, or the number of a separator; where that has 65 bits, the highest one is a byte of its own."""
    if column.width <= WORD:
        return (value if mark is None else replace(value, marked=(mark, separator)),)
    low = replace(value, width=WORD)
    if mark is None:  # a byte that is always 0
        return replace(value, width=1, position=NOWHERE), low
    return RowColumn(mark, 0, 1, value.length_slot, value.position), replace(low, marked=(mark, 0))
