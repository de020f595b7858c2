"""Atomic read-modify-writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memfence.codes import Code
from memfence.frontends.c.llvm.types import Type
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import (
    alive_ops,
    at_address,
    is_constant,
    is_in_memory,
    is_own_stack,
    is_written,
    known_values,
    size_of_access,
    write_cells,
    written,
)
from memfence.frontends.c.machine.arithmetic import negation, unwrapped
from memfence.frontends.c.machine.packing import WIDEST, equality, packed, part, with_bits
from memfence.frontends.c.machine.path import LONG_HINT, LONG_INTEGER, Path
from memfence.frontends.c.machine.residual import Cell, Guard, Modify, Op, Read, UpdateKind, loading, storing
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.value_sets import ValueSet, range_of_bits
from memfence.frontends.c.machine.values import ONE, ZERO, Integer, Known, Packed, Scalar, Unknown, Value
from memfence.frontends.c.machine.world import Access
from memfence.program.expressions import Const, Register
from memfence.program.orders import MemoryOrder

SPURIOUS = "fails spuriously"

Finish = Callable[[Path, Integer, Scalar | None], tuple[Value, Integer]]
"""From the old content to the result and the new content; for a compare-exchange, also from whether they are equal."""


def modify(
    path: Path,
    result: str,
    kind: UpdateKind,
    type: Type,
    pointer: Scalar,
    operand: Integer,
    order: MemoryOrder,
    finish: Finish,
    expected: Integer | None = None,
    failure_order: MemoryOrder | None = None,
    *,
    is_spurious: bool = False,
) -> None:
    """An atomic update; `finish(path, old, equal)` gives the result and the new content.

    `is_spurious`: the case of a weak compare-exchange that fails although it finds what it expects.
    """
    size, bits = size_of_access(path, type), path.bits_of(type)

    def update(p: Path, address: int) -> None:
        if is_constant(p, address):
            return
        if p.state.started and not is_own_stack(p, address):
            p.world.share_now(address, size, Access.UPDATE)
        ops = alive_ops(p, address)
        if not is_in_memory(p, address, size):
            _update_private(p, result, address, size, finish, ops, expected, is_spurious)
            return
        cells = p.world.share_now(address, size, Access.UPDATE)
        if len(cells) > 1 or cells[0].size != size:
            _update_cells(p, result, cells, address, size, finish, order, ops, expected, failure_order, is_spurious)
            return
        cell = cells[0]
        register = p.scratch()
        outcome, new = finish(p, Unknown(Register(register), known_values(p, cell)), None)
        assert not isinstance(new, Packed)
        used(new)
        stored = p.world.settled(operand, bits, ZERO)
        p.world.may_hold(cell, new.values.join(stored.values) if kind == "cas" else new.values)
        p.set(result, outcome)
        wanted = None if expected is None else p.world.settled(expected, bits, ZERO).expr
        may_wrap = _may_wrap(kind, bits, p.world.possible(cell), stored)
        change = Modify(register, cell, kind, stored.expr, bits, order, wanted, failure_order, may_wrap, is_spurious)
        guards = p.world.unmistakable(cell, stored if kind == "cas" else new)
        after = [*ops, change, *guards, *is_written(p, register, cell)]
        p.emit(after, locked=True, is_update=True, remark=SPURIOUS if is_spurious else "")

    at_address(path, pointer, size, "atomic update", update)


def _update_private(
    path: Path,
    result: str,
    address: int,
    size: int,
    finish: Finish,
    ops: Sequence[Op],
    expected: Integer | None,
    is_spurious: bool,
) -> None:
    if path.state.started:
        path.world.reads(path.process.number, address, size)
        path.world.writes(path.process.number, address, size)
    name = path.world.space.name_of(address, size)
    old = used(written(path, private.read(path.world, path.state, address, size), name))
    if path.ended:
        return

    def go_on(p: Path, equal: Scalar | None) -> None:
        outcome, new = finish(p, old, equal)
        private.write(p.world, p.state, address, size, new)
        p.set(result, outcome)
        if ops or is_spurious:  # a loop that tries again and again comes to the same location
            p.emit(ops, remark=SPURIOUS if is_spurious else "")

    if expected is not None and is_spurious:
        _for_each_outcome(path, equality(8 * size, old, expected), lambda p, equal: _if_equal(p, equal, go_on))
    elif expected is not None and (isinstance(old, Packed) or isinstance(expected, Packed)):
        _for_each_outcome(path, equality(8 * size, old, expected), go_on)
    else:
        go_on(path, None)


def _if_equal(path: Path, equal: Known, go_on: Callable[[Path, Scalar | None], None]) -> None:
    if equal == ONE:
        go_on(path, equal)
    else:
        path.ended = True


def _for_each_outcome(path: Path, equal: Scalar, go_on: Callable[[Path, Known], None]) -> None:
    """Go on where the comparison is true, and where it is false, each in a fork of its own."""
    if isinstance(equal, Known):
        go_on(path, equal)
        return
    for guard, known in ((equal.expr, ONE), (negation(equal.expr), ZERO)):
        copy = path.fork(guard)
        if copy is not None:
            go_on(copy, known)
    path.ended = True


def _update_cells(
    path: Path,
    result: str,
    cells: Sequence[Cell],
    address: int,
    size: int,
    finish: Finish,
    order: MemoryOrder,
    before: Sequence[Op],
    expected: Integer | None,
    failure_order: MemoryOrder | None,
    is_spurious: bool,
) -> None:
    """An update of several cells, or of a part of one: a locked step that reads and writes all of them."""
    first, bits = cells[0].address, 8 * sum(cell.size for cell in cells)
    low, width = 8 * (address - first), 8 * size
    registers = [path.scratch() for _ in cells]
    pieces = [(8 * c.size, Unknown(Register(r), known_values(path, c))) for r, c in zip(registers, cells, strict=True)]
    checks = [op for r, cell in zip(registers, cells, strict=True) for op in is_written(path, r, cell)]
    whole = packed(pieces)
    old = part(whole, bits, low, width)

    def reads(how: MemoryOrder) -> list[Op]:
        is_split = len(cells) > 1
        return [Read(r, cell, loading(how), split=is_split) for r, cell in zip(registers, cells, strict=True)]

    def writes(p: Path, new: Integer) -> list[Op]:
        return write_cells(p, cells, with_bits(whole, bits, low, width, new), storing(order))

    if expected is None:
        outcome, new = finish(path, old, None)
        path.set(result, outcome)
        path.emit([*before, *reads(order), *checks, *writes(path, used(new))], locked=True, is_update=True)
        return
    equal = equality(width, old, expected)
    for is_equal in (ONE,) if is_spurious else (ONE, ZERO):
        if isinstance(equal, Known) and equal != is_equal:
            continue
        copy = path.fork()
        assert copy is not None
        outcome, new = finish(copy, old, is_equal)
        copy.set(result, outcome)
        writes_it = is_equal == ONE and not is_spurious
        how = order if writes_it else failure_order or order
        guard = Guard(equal.expr if is_equal.value else negation(equal.expr))
        stores = writes(copy, new) if writes_it else []
        remark = SPURIOUS if is_spurious else ""
        copy.emit([*before, *reads(how), *checks, guard, *stores], locked=True, remark=remark, is_update=True)
    path.ended = True


def refuse_long(path: Path, value: Integer, bits: int) -> None:
    """An integer of more than 64 bits that is not known is exchanged as a whole, but not computed with."""
    if bits > WIDEST and isinstance(value, Packed):
        raise path.refuse(Code.UNSUPPORTED, LONG_INTEGER, LONG_HINT)


def _may_wrap(kind: str, bits: int, old: ValueSet, operand: Scalar) -> bool:
    if kind not in ("add", "sub"):
        return False
    bounds = unwrapped(kind, bits, Unknown(Const(0), old), operand).values.bounds()
    lo, hi = range_of_bits(bits)
    return bounds is None or bounds[0] < lo or bounds[1] > hi
