"""The syntax tree of an RMM program: statements as dataclasses, expressions as lark trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from memfence.frontends.parsing.syntax import FenceHere, Goto, Name
from memfence.records import Record
from memfence.source import Span

if TYPE_CHECKING:
    from memfence.frontends.parsing.syntax import Node


class Declaration(Record):
    """A variable or register. `initial` None means `*`; `domain` None means Z."""

    name: Name
    initial: int | None
    domain: tuple[int, int] | None


class MemoryCell(Record):
    """A memory location: `x`, `x[my]`, `x[1]` or `[expr]`."""

    kind: Literal["global", "own", "other", "pointer"]
    name: Name
    index: int = 0
    address: Node | None = None


class Nop(Record):
    pass


class ReadCheck(Record):
    """`read: x = e`: blocks until the variable has the value."""

    place: MemoryCell
    value: Node


class ReadInto(Record):
    register: Name
    place: MemoryCell


class Write(Record):
    place: MemoryCell
    value: Node
    locked: bool


class Cas(Record):
    place: MemoryCell
    old: Node
    new: Node


class SetRegister(Record):
    register: Name
    value: Node


class AssumeHere(Record):
    condition: Node


class If(Record):
    condition: Node
    then: Statement
    otherwise: Statement | None


class While(Record):
    condition: Node
    body: Statement


class Either(Record):
    alternatives: tuple[tuple[Statement, ...], ...]


class Locked(Record):
    alternatives: tuple[tuple[Statement, ...], ...]


class Block(Record):
    statements: tuple[Statement, ...]


Simple = Nop | ReadCheck | ReadInto | Write | Cas | FenceHere | SetRegister | AssumeHere
Body = Simple | If | While | Goto | Either | Locked | Block


class Statement(Record):
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


class ProcessText(Record):
    """`count` copies; `any_number`: they stand for as many as one likes (`process(*)`)."""

    span: Span
    template: str
    count: int
    data: tuple[Declaration, ...]
    registers: tuple[Declaration, ...]
    statements: tuple[Statement, ...]
    any_number: bool = False


class ProgramText(Record):
    """`forbidden`: combinations of labels, None for `*`."""

    forbidden: tuple[tuple[tuple[Name | None, ...], Span], ...]
    data: tuple[Declaration, ...]
    processes: tuple[ProcessText, ...]
