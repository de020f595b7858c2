"""Operands and constants of LLVM IR. Integers are kept as signed numbers of their width, except i1: 0 or 1."""

from __future__ import annotations

from memfence.frontends.c.llvm.types import IntType, Type
from memfence.records import Record


class Local(Record):
    """`%name`: the result of an instruction or a parameter."""

    name: str


class Global(Record):
    """`@name`: the address of a variable or function."""

    name: str


class Number(Record):
    value: int


class Undefined(Record):
    """`undef` or `poison`."""


class Real(Record):
    """A floating-point constant, as written."""

    text: str


class Text(Record):
    """`c"..."`: bytes."""

    data: bytes


class Zero(Record):
    """`zeroinitializer`, of any type."""


class Aggregate(Record):
    """The elements of an array, vector or struct."""

    elements: tuple[tuple[Type, Operand], ...]


class AddressOf(Record):
    """A constant `getelementptr`."""

    source: Type
    base: Operand
    indices: tuple[Operand, ...]


class Converted(Record):
    """A constant cast."""

    op: str
    origin: Type
    operand: Operand
    target: Type


class Computed(Record):
    """Constant arithmetic."""

    op: str
    type: Type
    left: Operand
    right: Operand


class InlineAsm(Record):
    """The callee of a call: assembly text and its constraints."""

    text: str
    constraints: str


class Ignored(Record):
    """Metadata, block addresses and the like: nothing that is computed with."""

    text: str


Operand = (
    Local
    | Global
    | Number
    | Undefined
    | Real
    | Text
    | Zero
    | Aggregate
    | AddressOf
    | Converted
    | Computed
    | InlineAsm
    | Ignored
)


def signed(value: int, bits: int) -> int:
    """`value` modulo 2**bits, as a signed number; of a single bit, as 0 or 1."""
    value &= (1 << bits) - 1
    return value if bits == 1 or value < 1 << (bits - 1) else value - (1 << bits)


def number_of(type: Type, value: int) -> Number:
    return Number(signed(value, type.bits) if isinstance(type, IntType) else value)
