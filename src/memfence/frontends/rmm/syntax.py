"""The syntax tree of an RMM program: statements as dataclasses, expressions as lark trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from memfence.frontends.parsing.syntax import FenceHere, Goto, Name
from memfence.records import dataclass
from memfence.source import Span

if TYPE_CHECKING:
    from memfence.frontends.parsing.syntax import Node


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable or register. `initial` None means `*`; `domain` None means Z."""

    name: Name
    initial: int | None
    domain: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Place:
    """A memory location: `x`, `x[my]`, `x[1]` or `[expr]`."""

    kind: Literal["global", "own", "other", "pointer"]
    name: Name
    index: int = 0
    address: Node | None = None


@dataclass(frozen=True, slots=True)
class Nop:
    pass


@dataclass(frozen=True, slots=True)
class ReadCheck:
    """`read: x = e`: blocks until the variable has the value."""

    place: Place
    value: Node


@dataclass(frozen=True, slots=True)
class ReadInto:
    register: Name
    place: Place


@dataclass(frozen=True, slots=True)
class Write:
    place: Place
    value: Node
    locked: bool


@dataclass(frozen=True, slots=True)
class Cas:
    place: Place
    old: Node
    new: Node


@dataclass(frozen=True, slots=True)
class SetRegister:
    register: Name
    value: Node


@dataclass(frozen=True, slots=True)
class AssumeHere:
    condition: Node


@dataclass(frozen=True, slots=True)
class If:
    condition: Node
    then: Statement
    otherwise: Statement | None


@dataclass(frozen=True, slots=True)
class While:
    condition: Node
    body: Statement


@dataclass(frozen=True, slots=True)
class Either:
    alternatives: tuple[tuple[Statement, ...], ...]


@dataclass(frozen=True, slots=True)
class Locked:
    alternatives: tuple[tuple[Statement, ...], ...]


@dataclass(frozen=True, slots=True)
class Block:
    statements: tuple[Statement, ...]


Simple = Nop | ReadCheck | ReadInto | Write | Cas | FenceHere | SetRegister | AssumeHere
Body = Simple | If | While | Goto | Either | Locked | Block


@dataclass(frozen=True, slots=True)
class Statement:
    """`start` and `end` are the offsets, in the source, of the statement without its labels.

    `listed`: it stands in a list of statements; otherwise it is the only statement of an `if` or `while`.
    `macro`: whose body it was written in, if any.
    """

    labels: tuple[Name, ...]
    body: Body
    span: Span
    start: int
    end: int
    listed: bool
    macro: str


@dataclass(frozen=True, slots=True)
class ProcessText:
    """`count` copies; `any_number`: they stand for as many as one likes (`process(*)`)."""

    span: Span
    template: str
    count: int
    data: tuple[Declaration, ...]
    registers: tuple[Declaration, ...]
    statements: tuple[Statement, ...]
    any_number: bool = False


@dataclass(frozen=True, slots=True)
class ProgramText:
    """`forbidden`: combinations of labels, None for `*`."""

    forbidden: tuple[tuple[tuple[Name | None, ...], Span], ...]
    data: tuple[Declaration, ...]
    processes: tuple[ProcessText, ...]
