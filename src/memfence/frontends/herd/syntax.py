"""What a litmus test says, whatever language its threads are written in: each part with its place."""

from __future__ import annotations

from dataclasses import field
from typing import Generic, Literal, TypeVar

from memfence.records import dataclass
from memfence.source import Span

Quantifier = Literal["exists", "not exists", "forall"]
Instruction = TypeVar("Instruction")


@dataclass(frozen=True, slots=True)
class LabelHere:
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Target:
    """The label that a jump goes to."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Item(Generic[Instruction]):
    """An instruction with the labels before it, all with their rows. The last item of a thread has labels only."""

    labels: tuple[tuple[LabelHere, int], ...]
    instruction: Instruction | None
    row: int


@dataclass(slots=True)
class InitialState:
    """Values by location and by (thread, register); `pointers`: registers that hold the address of a location."""

    locations: dict[str, int] = field(default_factory=dict)
    registers: dict[tuple[int, int], int] = field(default_factory=dict)
    pointers: dict[tuple[int, int], str] = field(default_factory=dict)
    places: dict[str | tuple[int, int], Span] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observed:
    """A memory location (`thread` is None) or a register, by number, of a thread."""

    thread: int | None
    name: str
    register: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class Atom:
    what: Observed
    equal: bool
    value: int


@dataclass(frozen=True, slots=True)
class Truth:
    value: bool


@dataclass(frozen=True, slots=True)
class Not:
    operand: Proposition


@dataclass(frozen=True, slots=True)
class Junction:
    """Two or more operands joined by `/\\`, by `\\/`, or exactly two by `=>`."""

    op: Literal["/\\", "\\/", "=>"]
    operands: tuple[Proposition, ...]


Proposition = Atom | Truth | Not | Junction


@dataclass(frozen=True, slots=True)
class Condition:
    quantifier: Quantifier
    proposition: Proposition
    locations: tuple[Observed, ...]


@dataclass(frozen=True, slots=True)
class LitmusTest(Generic[Instruction]):
    """`threads`: where each is named; `columns`: its items. `condition`: None where it cannot be understood."""

    architecture: str
    name: str
    threads: tuple[Span, ...]
    initial: InitialState
    columns: tuple[tuple[Item[Instruction], ...], ...]
    condition: Condition | None
