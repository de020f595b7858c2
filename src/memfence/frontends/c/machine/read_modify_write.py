"""What atomic read-modify-write instructions compute."""

from __future__ import annotations

from functools import partial

from memfence.codes import Code
from memfence.frontends.c.llvm.instructions import CompareExchange, Update
from memfence.frontends.c.llvm.types import FloatType
from memfence.frontends.c.machine.arithmetic import choose, compare, compute
from memfence.frontends.c.machine.packing import is_wholly_undefined, plain, with_zeros
from memfence.frontends.c.machine.path import FLOAT_HINT, Path
from memfence.frontends.c.machine.undefined import USED, Undefined, used
from memfence.frontends.c.machine.updates import modify, refuse_long
from memfence.frontends.c.machine.values import ONE, Integer, Known, Parts, Scalar, Value, is_undefined
from memfence.frontends.c.machine.world import PARTLY


def compare_exchange(path: Path, i: CompareExchange) -> None:
    bits = path.bits_of(i.type)
    expected, desired = (_exchanged(path, path.integer(i.type, v), bits) for v in (i.expected, i.desired))

    def finish(p: Path, old: Integer, equal: Scalar | None) -> tuple[Value, Integer]:
        if equal is not None:
            return Parts((old, equal)), desired if equal == ONE else old
        success = compare("eq", bits, plain(old), plain(expected))
        return Parts((old, success)), choose(success, plain(desired), plain(old))

    pointer = path.scalar(i.type, i.pointer)
    if i.weak:
        fail_spuriously(path, i, pointer, expected, desired)
    modify(path, i.result, "cas", i.type, pointer, desired, i.order, finish, expected, i.failure_order)


def fail_spuriously(path: Path, i: CompareExchange, pointer: Scalar, expected: Integer, desired: Integer) -> None:
    """A weak compare-exchange may fail although it finds what it expects: a way of its own."""
    failing = path.fork()
    assert failing is not None

    def finish(p: Path, old: Integer, equal: Scalar | None) -> tuple[Value, Integer]:
        return Parts((expected, Known(0))), old

    modify(
        failing,
        i.result,
        "cas",
        i.type,
        pointer,
        desired,
        i.order,
        finish,
        expected,
        i.failure_order,
        is_spurious=True,
    )


def _exchanged(path: Path, value: Integer, bits: int) -> Integer:
    """The value to compare with, or to store: padding that nobody has written is 0, but some of it must be written."""
    if not is_undefined(value):
        return value
    if is_wholly_undefined(value, bits):
        raise Undefined(USED)
    path.world.assumed.add(PARTLY)
    return with_zeros(value)


def update(path: Path, i: Update) -> None:
    if isinstance(i.type, FloatType):
        raise path.refuse(Code.UNSUPPORTED, "floating-point numbers are not supported", FLOAT_HINT)
    bits = path.bits_of(i.type)
    exchanged = path.integer(i.type, i.value)
    if i.op == "xchg":
        new = _exchanged(path, exchanged, bits)
        pointer = path.scalar(i.type, i.pointer)
        modify(path, i.result, "xchg", i.type, pointer, new, i.order, lambda p, old, equal: (old, new))
        return
    operand = used(path.scalar(i.type, i.value))
    finish = partial(_updated, i.op, bits, operand)
    pointer = path.scalar(i.type, i.pointer)
    modify(path, i.result, i.op, i.type, pointer, operand, i.order, finish)  # type: ignore[arg-type]


def _updated(
    op: str, bits: int, operand: Scalar, path: Path, old: Integer, equal: Scalar | None
) -> tuple[Value, Scalar]:
    refuse_long(path, old, bits)
    return old, new_content(path, op, bits, plain(old), operand)


def new_content(path: Path, op: str, bits: int, old: Scalar, operand: Scalar) -> Scalar:
    """What `atomicrmw op` writes."""
    match op:
        case "add" | "sub" | "and" | "or" | "xor":
            return compute(op, bits, old, operand)
        case "nand":
            return compute("xor", bits, compute("and", bits, old, operand), Known(-1))
        case "max" | "min" | "umax" | "umin":
            predicate = {"max": "sge", "min": "sle", "umax": "uge", "umin": "ule"}[op]
            return choose(compare(predicate, bits, old, operand), old, operand)
    raise path.refuse(Code.UNSUPPORTED, f"the atomic operation `{op}` is not supported")
