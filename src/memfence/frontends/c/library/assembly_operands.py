"""Inline assembly with operands: mov, xchg, and lock with xadd, inc, dec, add, sub, or, and, cmpxchg.

One memory operand, at most one register input (for cmpxchg two) and one register output, or also the zero flag, by
`setz` or as an output of its own: what lock-free code writes.
"""

from __future__ import annotations

import re

from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.llvm.types import IntType, PointerType, Type
from memfence.frontends.c.llvm.values import InlineAsm
from memfence.frontends.c.machine.access import load, store
from memfence.frontends.c.machine.arithmetic import choose, compare, compute
from memfence.frontends.c.machine.packing import plain
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import UpdateKind
from memfence.frontends.c.machine.updates import modify
from memfence.frontends.c.machine.values import ONE, ZERO, Integer, Parts, Scalar, Value
from memfence.program.orders import MemoryOrder
from memfence.records import Record

LINE = re.compile(r"^(?P<lock>lock )?(?P<name>mov|xchg|xadd|inc|dec|add|sub|or|and|cmpxchg)(?P<size>[bwlq])? .*$")
SETZ = re.compile(r"^set[ze] \$(?P<operand>\d+)$")
ZERO_FLAG = ("@ccz", "@cce")
ACCUMULATOR = ("ax", "a")
BITS = {"b": 8, "w": 16, "l": 32, "q": 64}
UPDATES: dict[str, UpdateKind] = {"xadd": "add", "inc": "add", "dec": "sub", "add": "add", "sub": "sub", "or": "or",
                                  "and": "and", "xchg": "xchg"}  # fmt: skip


class Operands(Record):
    """`memory`: the address. `inputs`: values in registers, as (constraint, type, value).

    `outputs`: the constraints of register results, by their numbers in the text.
    """

    memory: Scalar
    inputs: tuple[tuple[str, Type, Scalar], ...]
    outputs: dict[int, str]

    @property
    def has_output(self) -> bool:
        return bool(self.outputs)


def run_pattern(path: Path, call: Call, asm: InlineAsm, lines: list[str]) -> bool:
    """Whether the lines are one of the known patterns, which was then executed."""
    found = LINE.match(lines[0]) if 1 <= len(lines) <= 2 else None
    flag = SETZ.match(lines[1]) if len(lines) == 2 else None
    operands = _operands(path, call, asm) if found is not None and (flag or len(lines) == 1) else None
    if found is None or operands is None or call.normal is not None:
        return False
    if flag is not None:
        operands.outputs[int(flag["operand"])] = ZERO_FLAG[0]
    name, locked = found["name"], found["lock"] is not None
    if name not in ("mov", "xchg") and not locked:
        return False
    type = _type(found["size"], call, operands)
    if name == "mov":
        return _move(path, call, type, operands)
    if name == "cmpxchg":
        return _compare_exchange(path, call, type, operands)
    return _update(path, call, name, type, operands)


def _operands(path: Path, call: Call, asm: InlineAsm) -> Operands | None:
    """The operands of the call; None where they are of another shape."""
    wanted = [c for c in asm.constraints.split(",") if not c.startswith("~")]
    arguments = list(call.arguments)
    memory: list[Scalar] = []
    inputs: list[tuple[str, Type, Scalar]] = []
    outputs: dict[int, str] = {}
    for number, constraint in enumerate(wanted):
        if constraint.startswith("=") and "*" not in constraint:
            outputs[number] = constraint.strip("=&{}")
            continue
        if not arguments:
            return None
        type, operand = arguments.pop(0)
        value = path.scalar(type, operand)
        if "*" in constraint:
            memory.append(value)
        else:
            inputs.append((constraint.lstrip("="), type, value))
    if not memory or any(value != memory[0] for value in memory) or len(outputs) > 2:
        return None
    return Operands(memory[0], tuple(inputs), outputs)


def _results(operands: Operands, old: Scalar, is_zero: Scalar) -> Value:
    """What the outputs get: the zero flag, or the old content of memory."""
    values = tuple(is_zero if name in ZERO_FLAG else old for name in operands.outputs.values())
    return values[0] if len(values) == 1 else Parts(values)


def _type(suffix: str | None, call: Call, operands: Operands) -> Type:
    if suffix:
        return IntType(BITS[suffix])
    known = [type for _, type, _ in operands.inputs] + ([call.type] if operands.has_output else [])
    return next((type for type in known if isinstance(type, IntType | PointerType)), IntType(32))


def _move(path: Path, call: Call, type: Type, operands: Operands) -> bool:
    if operands.has_output and not operands.inputs:
        load(path, call.result, type, operands.memory, MemoryOrder.RELAXED, True)
        return True
    if len(operands.inputs) == 1 and not operands.has_output:
        store(path, type, operands.inputs[0][2], operands.memory, MemoryOrder.RELAXED, True)
        return True
    return False


def _update(path: Path, call: Call, name: str, type: Type, operands: Operands) -> bool:
    if len(operands.inputs) > 1 or len(operands.outputs) > 1 or (not operands.inputs and name not in ("inc", "dec")):
        return False
    value: Scalar = operands.inputs[0][2] if operands.inputs else ONE
    kind, bits = UPDATES[name], path.bits_of(type)

    def finish(p: Path, content: Integer, equal: Scalar | None) -> tuple[Value, Integer]:
        old = plain(content)
        new = value if kind == "xchg" else compute(kind, bits, old, value)
        return _results(operands, old, compare("eq", bits, new, ZERO)), new

    result = call.result if operands.has_output else ""
    modify(path, result, kind, type, operands.memory, value, MemoryOrder.SEQ_CST, finish)
    return True


def _compare_exchange(path: Path, call: Call, type: Type, operands: Operands) -> bool:
    """The expected value is in the accumulator, which also gets the old one."""
    tied = {str(n) for n, name in operands.outputs.items() if name in ACCUMULATOR}
    places = {"{ax}", "a", "0"} | tied
    expected = next((value for constraint, _, value in operands.inputs if constraint in places), None)
    desired = next((value for constraint, _, value in operands.inputs if constraint in ("r", "q")), None)
    if expected is None or desired is None or not operands.has_output:
        return False
    bits = path.bits_of(type)

    def finish(p: Path, content: Integer, equal: Scalar | None) -> tuple[Value, Integer]:
        old = plain(content)
        is_equal = compare("eq", bits, old, expected) if equal is None else equal
        return _results(operands, old, is_equal), choose(is_equal, desired, old)

    order = MemoryOrder.SEQ_CST
    modify(path, call.result, "cas", type, operands.memory, desired, order, finish, expected, order)
    return True
