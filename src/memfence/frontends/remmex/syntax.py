"""The syntax tree of a Remmex program: statements as dataclasses, expressions as lark trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfence.frontends.parsing.syntax import FenceHere, Goto, Name
from memfence.records import Record
from memfence.source import Span

if TYPE_CHECKING:
    from memfence.frontends.parsing.syntax import Node


class Declaration(Record):
    """A variable; `size` None: not an array. `initial`: one value, or one an element."""

    kind: str
    name: Name
    size: int | None
    initial: tuple[int, ...]


class PlaceOf(Record):
    """A shared variable, or an element of a shared array."""

    name: Name
    index: Node | None
    span: Span


class StoreTo(Record):
    place: PlaceOf
    value: Node


class SetLocal(Record):
    name: Name
    value: Node


class Guard(Record):
    """An expression: blocks until it is true."""

    condition: Node


class Skip(Record):
    pass


class Break(Record):
    pass


class Check(Record):
    """`assert(e)`."""

    condition: Node


class TakeLock(Record):
    pass


class ReleaseLock(Record):
    pass


class Else(Record):
    """As the first statement of an option: starts if no other option can."""


class If(Record):
    options: tuple[tuple[Statement, ...], ...]


class Do(Record):
    options: tuple[tuple[Statement, ...], ...]


class Block(Record):
    statements: tuple[Statement, ...]


Simple = StoreTo | SetLocal | Guard | Skip | FenceHere | Check | TakeLock | ReleaseLock | Else
Body = Simple | Break | Goto | If | Do | Block


class Statement(Record):
    labels: tuple[Name, ...]
    body: Body
    span: Span


class ProcessText(Record):
    name: Name
    locals: tuple[Declaration, ...]
    statements: tuple[Statement, ...]
    trailing: tuple[Name, ...]


class ProgramText(Record):
    declarations: tuple[Declaration, ...]
    processes: tuple[ProcessText, ...]
