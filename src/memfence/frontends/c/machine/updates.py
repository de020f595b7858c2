"""Atomic read-modify-writes."""

from __future__ import annotations

from collections.abc import Callable

from memfence.codes import Code
from memfence.frontends.c.llvm.types import Type, size_of
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import (
    alive_ops,
    at_address,
    is_in_memory,
    is_own_stack,
    is_written,
    known_values,
    stop_beyond,
    written,
)
from memfence.frontends.c.machine.arithmetic import unwrapped
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Guard, Modify, UpdateKind
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.value_sets import ValueSet, range_of_bits
from memfence.frontends.c.machine.values import Scalar, Unknown, Value
from memfence.frontends.c.machine.wide import is_wide
from memfence.program.expressions import Const, Register
from memfence.program.orders import MemoryOrder


def modify(
    path: Path,
    result: str,
    kind: UpdateKind,
    type: Type,
    pointer: Scalar,
    operand: Scalar,
    order: MemoryOrder,
    finish: Callable[[Path, Scalar], tuple[Value, Scalar]],
    expected: Scalar | None = None,
    failure_order: MemoryOrder | None = None,
) -> None:
    """An atomic update; `finish(path, old)` gives the result and the new content."""
    size = size_of(type)
    if size > 8:
        raise path.refuse(Code.UNSUPPORTED, f"an atomic access of {size} bytes")

    def update(p: Path, address: int) -> None:
        if p.state.started and not is_own_stack(p, address):
            p.world.share_now(address, size)
        ops = alive_ops(p, address)
        if not is_in_memory(p, address, size):
            if p.state.started:
                p.world.reads(p.process.number, address, size)
                p.world.writes(p.process.number, address, size)
            name = p.world.space.name_of(address, size)
            old = used(written(p, private.read(p.world, p.state, address, size), name))
            if p.ended:
                return
            outcome, new = finish(p, old)
            private.write(p.world, p.state, address, size, new)
            p.set(result, outcome)
            if ops:
                p.emit(ops)
            return
        cell = p.world.share_now(address, size)
        if cell.size != size:
            raise p.refuse(Code.UNSUPPORTED, "an atomic access to a part of a larger object")
        register = p.scratch()
        held = known_values(p, cell)
        if kind not in ("cas", "xchg") and (p.world.codes.among(held) or not _is_narrow(operand)):
            raise p.refuse(Code.UNSUPPORTED, "an atomic update of an integer that needs more than 32 bits")
        outcome, new = finish(p, Unknown(Register(register), held))
        used(new)
        new, stored = p.world.codes.coded(new), p.world.codes.coded(operand)
        if stop_beyond(p, stored):
            return
        p.world.may_hold(cell, new.values.join(stored.values) if kind == "cas" else new.values)
        p.set(result, outcome)
        wanted = None if expected is None else p.world.codes.coded(expected).expr
        bits = p.bits_of(type)
        reach = p.world.reach_of(new)
        may_wrap = bool(reach) or _may_wrap(kind, bits, p.world.possible(cell), operand)
        guard = next((op.condition for op in reach if isinstance(op, Guard)), None)
        update_op = Modify(register, cell, kind, stored.expr, bits, order, wanted, failure_order, may_wrap, guard)
        guards = p.world.unmistakable(cell, operand)
        p.emit([*ops, *guards, update_op, *is_written(p, register, cell)], locked=True)

    at_address(path, pointer, size, "atomic update", update)


def _is_narrow(value: Scalar) -> bool:
    return not any(is_wide(v) for v in value.values.listed)


def _may_wrap(kind: str, bits: int, old: ValueSet, operand: Scalar) -> bool:
    if kind not in ("add", "sub"):
        return False
    bounds = unwrapped(kind, bits, Unknown(Const(0), old), operand).values.bounds()
    lo, hi = range_of_bits(bits)
    return bounds is None or bounds[0] < lo or bounds[1] > hi
