"""What atomic read-modify-write instructions compute."""

from __future__ import annotations

from functools import partial

from memfence.codes import Code
from memfence.frontends.c.llvm.instructions import CompareExchange, Update
from memfence.frontends.c.llvm.types import FloatType
from memfence.frontends.c.machine.arithmetic import choose, compare, compute
from memfence.frontends.c.machine.path import FLOAT_HINT, Path
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.updates import modify
from memfence.frontends.c.machine.values import Known, Parts, Scalar, Unknown, Value


def compare_exchange(path: Path, i: CompareExchange) -> None:
    bits = path.bits_of(i.type)
    expected, desired = used(path.scalar(i.type, i.expected)), used(path.scalar(i.type, i.desired))

    def finish(p: Path, old: Scalar) -> tuple[Value, Scalar]:
        wanted, new = (p.world.codes.coded(v) if isinstance(old, Unknown) else v for v in (expected, desired))
        success = compare("eq", bits, old, wanted)
        return Parts((old, success)), choose(success, new, old)

    pointer = path.scalar(i.type, i.pointer)
    modify(path, i.result, "cas", i.type, pointer, desired, i.order, finish, expected, i.failure_order)


def update(path: Path, i: Update) -> None:
    if isinstance(i.type, FloatType):
        raise path.refuse(Code.UNSUPPORTED, "floating-point numbers are not supported", FLOAT_HINT)
    bits = path.bits_of(i.type)
    operand = used(path.scalar(i.type, i.value))
    finish = partial(_updated, i.op, bits, operand)
    pointer = path.scalar(i.type, i.pointer)
    modify(path, i.result, i.op, i.type, pointer, operand, i.order, finish)  # type: ignore[arg-type]


def _updated(op: str, bits: int, operand: Scalar, path: Path, old: Scalar) -> tuple[Value, Scalar]:
    return old, new_content(path, op, bits, old, operand)


def new_content(path: Path, op: str, bits: int, old: Scalar, operand: Scalar) -> Scalar:
    """What `atomicrmw op` writes."""
    match op:
        case "xchg":
            return operand
        case "add" | "sub" | "and" | "or" | "xor":
            return compute(op, bits, old, operand)
        case "nand":
            return compute("xor", bits, compute("and", bits, old, operand), Known(-1))
        case "max" | "min" | "umax" | "umin":
            predicate = {"max": "sge", "min": "sle", "umax": "uge", "umin": "ule"}[op]
            return choose(compare(predicate, bits, old, operand), old, operand)
    raise path.refuse(Code.UNSUPPORTED, f"the atomic operation `{op}` is not supported")
