"""Instructions of AArch64, each with its place."""

from __future__ import annotations

from memfence.frontends.herd.syntax import Target
from memfence.records import Record
from memfence.source import Span

ZERO = 31
"""The number of WZR and XZR: reads as 0, forgets what is written."""


class Immediate(Record):
    value: int
    span: Span


class RegisterName(Record):
    """X0 to X30 by number, or `ZERO`. `shift`: so many bits to the left, where it is used as a value."""

    number: int
    span: Span
    shift: int = 0


Value = Immediate | RegisterName


class Memory(Record):
    """`[X1]`, `[X1,#0]`, `[X1,W2,SXTW]`: the location at the sum of both."""

    base: RegisterName
    offset: Value | None
    span: Span


class Domain(Record):
    """What a DMB orders: `SY`, `LD` or `ST`."""

    name: str
    span: Span


Operand = Immediate | RegisterName | Memory | Target | Domain


class Instruction(Record):
    mnemonic: str
    operands: tuple[Operand, ...]
    span: Span
