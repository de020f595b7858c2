"""Operands and constants of LLVM IR. Integers are kept as signed numbers of their width, except i1: 0 or 1."""

from __future__ import annotations

from memfence.frontends.c.llvm.types import IntType, Type
from memfence.records import dataclass


@dataclass(frozen=True, slots=True)
class Local:
    """`%name`: the result of an instruction or a parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Global:
    """`@name`: the address of a variable or function."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    value: int


@dataclass(frozen=True, slots=True)
class Undefined:
    """`undef` or `poison`."""


@dataclass(frozen=True, slots=True)
class Real:
    """A floating-point constant, as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """`c"..."`: bytes."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Zero:
    """`zeroinitializer`, of any type."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The elements of an array, vector or struct."""

    elements: tuple[tuple[Type, Operand], ...]


@dataclass(frozen=True, slots=True)
class AddressOf:
    """A constant `getelementptr`."""

    source: Type
    base: Operand
    indices: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Converted:
    """A constant cast."""

    op: str
    origin: Type
    operand: Operand
    target: Type


@dataclass(frozen=True, slots=True)
class Computed:
    """Constant arithmetic."""

    op: str
    type: Type
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class InlineAsm:
    """The callee of a call: assembly text and its constraints."""

    text: str
    constraints: str


@dataclass(frozen=True, slots=True)
class Ignored:
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
