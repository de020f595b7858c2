"""Instructions of x86, each with its place."""

from __future__ import annotations

from memfence.frontends.herd.syntax import Target
from memfence.records import Record
from memfence.source import Span


class Immediate(Record):
    value: int
    span: Span


class RegisterName(Record):
    """A register by its number in the order of the architecture: EAX, EBX, ECX, EDX, ESI, ..."""

    number: int
    span: Span


class Location(Record):
    """`[x]`: a memory location by its name."""

    name: str
    span: Span


class Indirect(Record):
    """`[EAX]`: the memory location whose address the register holds."""

    register: RegisterName
    span: Span


Operand = Immediate | RegisterName | Location | Indirect | Target


class Instruction(Record):
    """`operands`: destination first, whatever the order of the architecture."""

    mnemonic: str
    operands: tuple[Operand, ...]
    locked: bool
    span: Span
