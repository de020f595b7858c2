"""What a litmus test says, whatever language its threads are written in: each part with its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from memfence.records import Record
from memfence.source import Span

Quantifier = Literal["exists", "not exists", "forall"]
Instruction = TypeVar("Instruction")


class LabelHere(Record):
    name: str
    span: Span


class Target(Record):
    """The label that a jump goes to."""

    name: str
    span: Span


class Item(Record, Generic[Instruction]):
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


class Observed(Record):
    """A memory location (`thread` is None) or a register, by number, of a thread."""

    thread: int | None
    name: str
    register: int | None
    span: Span


class Atom(Record):
    what: Observed
    equal: bool
    value: int


class Truth(Record):
    value: bool


class Not(Record):
    operand: Proposition


class Junction(Record):
    """Two or more operands joined by `/\\`, by `\\/`, or exactly two by `=>`."""

    op: Literal["/\\", "\\/", "=>"]
    operands: tuple[Proposition, ...]


Proposition = Atom | Truth | Not | Junction


class Condition(Record):
    quantifier: Quantifier
    proposition: Proposition
    locations: tuple[Observed, ...]


class LitmusTest(Record, Generic[Instruction]):
    """`threads`: where each is named; `columns`: its items. `condition`: None where it cannot be understood."""

    architecture: str
    name: str
    threads: tuple[Span, ...]
    initial: InitialState
    columns: tuple[tuple[Item[Instruction], ...], ...]
    condition: Condition | None
