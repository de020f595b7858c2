"""What is left of a program once everything known has been computed: locations and steps over shared cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Literal

from memfence.frontends.c.llvm.metadata import Place
from memfence.program.expressions import Expr, Register, registers_of, rewrite
from memfence.program.orders import MemoryOrder
from memfence.records import Record

UpdateKind = Literal["xchg", "add", "sub", "and", "nand", "or", "xor", "max", "min", "umax", "umin", "cas"]


class Cell(Record):
    """A piece of shared memory that is always accessed as a whole."""

    address: int
    size: int


class Among(Record):
    """One of the `cells`, all of the same size: the one at the address that `pointer` gives."""

    cells: tuple[int, ...]
    size: int
    pointer: Expr


Target = Cell | Among


class Read(Record):
    """`split`: a part of an access to several cells at once."""

    register: int
    target: Target
    order: MemoryOrder = MemoryOrder.PLAIN
    split: bool = False


class Write(Record):
    """`direct`: not by way of the store buffer (bookkeeping of ours, no store of the program).

    `split`: a part of an access to several cells at once.
    """

    target: Target
    value: Expr
    order: MemoryOrder = MemoryOrder.PLAIN
    direct: bool = False
    split: bool = False


class Modify(Record):
    """An atomic read-modify-write: `register` gets the old value; `expected` is for compare-exchange alone.

    `may_wrap`: the new value may wrap around. `is_spurious`: a weak compare-exchange that fails although it finds what
    it expects.
    """

    register: int
    target: Target
    kind: UpdateKind
    operand: Expr
    bits: int
    order: MemoryOrder
    expected: Expr | None = None
    failure_order: MemoryOrder | None = None
    may_wrap: bool = False
    is_spurious: bool = False


def loading(order: MemoryOrder) -> MemoryOrder:
    """The order of the load in a read-modify-write of this order."""
    return {MemoryOrder.RELEASE: MemoryOrder.RELAXED, MemoryOrder.ACQ_REL: MemoryOrder.ACQUIRE}.get(order, order)


def storing(order: MemoryOrder) -> MemoryOrder:
    """The order of the store in a read-modify-write of this order."""
    if order is MemoryOrder.ACQ_REL:
        return MemoryOrder.RELEASE
    return MemoryOrder.RELAXED if order in (MemoryOrder.ACQUIRE, MemoryOrder.CONSUME) else order


class Set(Record):
    register: int
    value: Expr


class Draw(Record):
    """The register gets any integer of `bits` bits. Gone before the program is explored."""

    register: int
    bits: int


class Guard(Record):
    """The step is possible only where this is true."""

    condition: Expr


class Within(Guard):
    """Runs in which this is false are cut off: the thread stops there, and a note of the program says so."""


class Check(Record):
    """Where this is false, the program fails, and `text` says how."""

    condition: Expr
    text: str


class Barrier(Record):
    """A fence between threads."""

    order: MemoryOrder


class Bus(Record):
    """Begin or end an atomic section."""

    take: bool


class Gather(Record):
    """Wait until all threads that `thread` stands for have ended."""

    thread: int


class Pause(Record):
    """The step may as well be two, one before and one after: nobody could tell."""


Op = Read | Write | Modify | Set | Draw | Guard | Check | Barrier | Bus | Gather | Pause


class Step(Record):
    """From location to location, all `ops` at once. `stack`: the calls that are open, outermost first. `remark`: what
    the text of the source does not say about it. `is_update`: a read-modify-write that the user wrote."""

    source: int
    target: int
    ops: tuple[Op, ...]
    locked: bool = False
    place: Place | None = field(default=None, compare=False)
    function: str = field(default="", compare=False)
    stack: tuple[Place, ...] = field(default=(), compare=False)
    remark: str = field(default="", compare=False)
    is_update: bool = field(default=False, compare=False)


def expressions_of(op: Op) -> tuple[Expr, ...]:
    match op:
        case Read(_, target):
            return _pointer(target)
        case Write(target, value):
            return (*_pointer(target), value)
        case Modify(target=target, operand=operand, expected=expected):
            return (*_pointer(target), operand, *(() if expected is None else (expected,)))
        case Set(_, value):
            return (value,)
        case Guard(condition) | Check(condition, _):
            return (condition,)
        case _:
            return ()


def reading_part(op: Op) -> tuple[Op, ...]:
    """What the op does for those after it, without changing memory."""
    match op:
        case Modify(register, target):
            return (Read(register, target),)
        case Read() | Set() | Draw() | Guard():
            return (op,)
        case _:
            return ()


def _pointer(target: Target) -> tuple[Expr, ...]:
    return (target.pointer,) if isinstance(target, Among) else ()


def registers_read_by(ops: Iterable[Op]) -> set[int]:
    return {r for op in ops for expr in expressions_of(op) for r in registers_of(expr)}


def in_parallel(moves: Sequence[tuple[int, Expr]], scratch: int) -> list[Op]:
    """Assign all at once, as a sequence; scratch registers from number `scratch` on break cycles."""
    waiting = [(register, expr) for register, expr in moves if expr != Register(register)]
    ops: list[Op] = []
    while waiting:
        for position, (register, expr) in enumerate(waiting):
            others = waiting[:position] + waiting[position + 1 :]
            if not any(register in registers_of(other) for _, other in others):
                ops.append(Set(register, expr))
                waiting = others
                break
        else:
            register, expr = waiting[0]
            ops.append(Set(scratch, Register(register)))
            moved = Register(scratch)
            scratch += 1
            waiting = [(r, _replaced(e, register, moved)) for r, e in waiting]
    return ops


def _replaced(expr: Expr, register: int, by: Register) -> Expr:
    return rewrite(expr, lambda leaf: by if leaf == Register(register) else leaf)


def without_detour(ops: Sequence[Op], scratch: frozenset[int]) -> tuple[Op, ...]:
    """`ops`, where what is read into a scratch register only to be copied is read into its register at once."""
    for position, op in enumerate(ops):
        if not isinstance(op, Read | Modify) or op.register not in scratch:
            continue
        for later in range(position + 1, len(ops)):
            copy = ops[later]
            if isinstance(copy, Set) and copy.value == Register(op.register):
                between = ops[position + 1 : later]
                rest = [*between, *ops[later + 1 :]]
                if copy.register in registers_read_by(rest) or op.register in registers_read_by(rest):
                    break
                if any(isinstance(o, Set | Read | Modify) and o.register == copy.register for o in rest):
                    break
                direct = _into(op, copy.register)
                return without_detour((*ops[:position], direct, *between, *ops[later + 1 :]), scratch)
    return tuple(ops)


def _into(op: Read | Modify, register: int) -> Op:
    return replace(op, register=register)
