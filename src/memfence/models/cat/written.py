"""A cat text as it is written: statements and expressions with their places; no name is looked up yet."""

from __future__ import annotations

from memfence.models.cat.syntax import BinaryOp, CheckKind, UnaryOp
from memfence.records import Record
from memfence.source import Span


class Name(Record):
    text: str
    span: Span


class Nothing(Record):
    """`0` or `{}`: an empty set or relation, whichever is wanted."""

    span: Span


class Call(Record):
    function: Name
    arguments: tuple[Written, ...]
    span: Span


class Prefixed(Record):
    """An operator with one operand, wherever it stands."""

    op: UnaryOp
    operand: Written
    span: Span


class Infix(Record):
    op: BinaryOp
    left: Written
    right: Written
    span: Span


Written = Name | Nothing | Call | Prefixed | Infix


class Binding(Record):
    """`name = body`, or with `parameters` a function."""

    name: Name
    parameters: tuple[Name, ...] | None
    body: Written


class Let(Record):
    bindings: tuple[Binding, ...]
    recursive: bool
    span: Span


class Test(Record):
    kind: CheckKind
    body: Written
    name: str
    negated: bool
    is_flag: bool
    span: Span


class Include(Record):
    path: str
    span: Span


Statement = Let | Test | Include
