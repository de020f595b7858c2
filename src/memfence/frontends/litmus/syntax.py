"""Instructions of x86, each with its place."""

from __future__ import annotations

from memfence.frontends.herd.syntax import Target
from memfence.records import dataclass
from memfence.source import Span


@dataclass(frozen=True, slots=True)
class Immediate:
    value: int
    span: Span


@dataclass(frozen=True, slots=True)
class RegisterName:
    """A register by its number in the order of the architecture: EAX, EBX, ECX, EDX, ESI, ..."""

    number: int
    span: Span


@dataclass(frozen=True, slots=True)
class Location:
    """`[x]`: a memory location by its name."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Indirect:
    """`[EAX]`: the memory location whose address the register holds."""

    register: RegisterName
    span: Span


Operand = Immediate | RegisterName | Location | Indirect | Target


@dataclass(frozen=True, slots=True)
class Instruction:
    """`operands`: destination first, whatever the order of the architecture."""

    mnemonic: str
    operands: tuple[Operand, ...]
    locked: bool
    span: Span
