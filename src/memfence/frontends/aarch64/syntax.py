"""Instructions of AArch64, each with its place."""

from __future__ import annotations

from memfence.frontends.herd.syntax import Target
from memfence.records import dataclass
from memfence.source import Span

ZERO = 31
"""The number of WZR and XZR: reads as 0, forgets what is written."""


@dataclass(frozen=True, slots=True)
class Immediate:
    value: int
    span: Span


@dataclass(frozen=True, slots=True)
class RegisterName:
    """X0 to X30 by number, or `ZERO`. `shift`: so many bits to the left, where it is used as a value."""

    number: int
    span: Span
    shift: int = 0


Value = Immediate | RegisterName


@dataclass(frozen=True, slots=True)
class Memory:
    """`[X1]`, `[X1,#0]`, `[X1,W2,SXTW]`: the location at the sum of both."""

    base: RegisterName
    offset: Value | None
    span: Span


@dataclass(frozen=True, slots=True)
class Domain:
    """What a DMB orders: `SY`, `LD` or `ST`."""

    name: str
    span: Span


Operand = Immediate | RegisterName | Memory | Target | Domain


@dataclass(frozen=True, slots=True)
class Instruction:
    mnemonic: str
    operands: tuple[Operand, ...]
    span: Span
