"""A cat text as it is written: statements and expressions with their places; no name is looked up yet."""

from __future__ import annotations

from memfence.models.cat.syntax import BinaryOp, CheckKind, UnaryOp
from memfence.records import dataclass
from memfence.source import Span


@dataclass(frozen=True, slots=True)
class Name:
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Nothing:
    """`0` or `{}`: an empty set or relation, whichever is wanted."""

    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    function: Name
    arguments: tuple[Written, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Prefixed:
    """An operator with one operand, wherever it stands."""

    op: UnaryOp
    operand: Written
    span: Span


@dataclass(frozen=True, slots=True)
class Infix:
    op: BinaryOp
    left: Written
    right: Written
    span: Span


Written = Name | Nothing | Call | Prefixed | Infix


@dataclass(frozen=True, slots=True)
class Binding:
    """`name = body`, or with `parameters` a function."""

    name: Name
    parameters: tuple[Name, ...] | None
    body: Written


@dataclass(frozen=True, slots=True)
class Let:
    bindings: tuple[Binding, ...]
    recursive: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Test:
    kind: CheckKind
    body: Written
    name: str
    negated: bool
    is_flag: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Include:
    path: str
    span: Span


Statement = Let | Test | Include
