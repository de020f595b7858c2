"""The syntax tree of a Remmex program: statements as dataclasses, expressions as lark trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfence.frontends.parsing.syntax import FenceHere, Goto, Name
from memfence.records import dataclass
from memfence.source import Span

if TYPE_CHECKING:
    from memfence.frontends.parsing.syntax import Node


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable; `size` None: not an array. `initial`: one value, or one an element."""

    kind: str
    name: Name
    size: int | None
    initial: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlaceOf:
    """A shared variable, or an element of a shared array."""

    name: Name
    index: Node | None
    span: Span


@dataclass(frozen=True, slots=True)
class StoreTo:
    place: PlaceOf
    value: Node


@dataclass(frozen=True, slots=True)
class SetLocal:
    name: Name
    value: Node


@dataclass(frozen=True, slots=True)
class Guard:
    """An expression: blocks until it is true."""

    condition: Node


@dataclass(frozen=True, slots=True)
class Skip:
    pass


@dataclass(frozen=True, slots=True)
class Break:
    pass


@dataclass(frozen=True, slots=True)
class Check:
    """`assert(e)`."""

    condition: Node


@dataclass(frozen=True, slots=True)
class TakeLock:
    pass


@dataclass(frozen=True, slots=True)
class ReleaseLock:
    pass


@dataclass(frozen=True, slots=True)
class Else:
    """As the first statement of an option: starts if no other option can."""


@dataclass(frozen=True, slots=True)
class If:
    options: tuple[tuple[Statement, ...], ...]


@dataclass(frozen=True, slots=True)
class Do:
    options: tuple[tuple[Statement, ...], ...]


@dataclass(frozen=True, slots=True)
class Block:
    statements: tuple[Statement, ...]


Simple = StoreTo | SetLocal | Guard | Skip | FenceHere | Check | TakeLock | ReleaseLock | Else
Body = Simple | Break | Goto | If | Do | Block


@dataclass(frozen=True, slots=True)
class Statement:
    labels: tuple[Name, ...]
    body: Body
    span: Span


@dataclass(frozen=True, slots=True)
class ProcessText:
    name: Name
    locals: tuple[Declaration, ...]
    statements: tuple[Statement, ...]
    trailing: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class ProgramText:
    declarations: tuple[Declaration, ...]
    processes: tuple[ProcessText, ...]
