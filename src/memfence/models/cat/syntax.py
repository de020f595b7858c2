"""A cat text, read: functions put in place, every name bound, every expression known to be a set or a relation."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, assert_never

from memfence.records import Record
from memfence.source import NOWHERE, SourceText, Span

Kind = Literal["set", "relation"]
BinaryOp = Literal["|", "&", "\\", ";", "*"]
"""Union, intersection, difference; composition of relations; all pairs of two sets (`A * B`)."""

UnaryOp = Literal["^-1", "*", "+", "?", "~", "[]", "domain", "range"]
"""Inverse, closures, complement; the identity on a set (`[S]`); the sets of first and of second events."""


class Base(Record):
    """A set or relation of the execution, or `id`, `_` (all events) or `emptyset`."""

    name: str
    kind: Kind
    span: Span = field(default=NOWHERE, compare=False)


class Named(Record):
    """What a definition above (or one of the same recursive group) defined: by its number in `Cat.definitions`."""

    definition: int
    kind: Kind
    span: Span = field(default=NOWHERE, compare=False)


class Unary(Record):
    op: UnaryOp
    operand: CatExpr
    kind: Kind
    span: Span = field(default=NOWHERE, compare=False)


class Binary(Record):
    op: BinaryOp
    left: CatExpr
    right: CatExpr
    kind: Kind
    span: Span = field(default=NOWHERE, compare=False)


CatExpr = Base | Named | Unary | Binary


def operands(expr: CatExpr) -> tuple[CatExpr, ...]:
    """The direct parts of an expression."""
    match expr:
        case Base() | Named():
            return ()
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case _:
            assert_never(expr)


def extent(expr: CatExpr) -> tuple[int, int]:
    """How many nodes an expression has as a tree, and how deep it is; parts that it shares are looked at once."""
    known: dict[int, tuple[int, int]] = {}
    waiting = [expr]
    while waiting:
        node = waiting[-1]
        open_parts = [part for part in operands(node) if id(part) not in known]
        if open_parts:
            waiting += open_parts
            continue
        waiting.pop()
        parts = [known[id(part)] for part in operands(node)]
        known[id(node)] = 1 + sum(size for size, _ in parts), 1 + max((depth for _, depth in parts), default=0)
    return known[id(expr)]


class Definition(Record):
    """`let name = body`. `group`: definitions of one `let rec ... and ...` share it; None: not recursive."""

    name: str
    body: CatExpr
    group: int | None = None
    span: Span = field(default=NOWHERE, compare=False)


CheckKind = Literal["acyclic", "irreflexive", "empty"]


class Axiom(Record):
    """`acyclic r as name`, or with `~` (`negated`) the contrary.

    `is_flag` (`flag ~empty race as undefined`): executions where it is true are allowed, but marked with its name.
    """

    kind: CheckKind
    body: CatExpr
    name: str
    negated: bool = False
    is_flag: bool = False
    span: Span = field(default=NOWHERE, compare=False)


class Cat(Record):
    """A memory model: an execution is allowed if every axiom that is no flag is true of it."""

    name: str
    definitions: tuple[Definition, ...]
    axioms: tuple[Axiom, ...]
    source: SourceText = field(default=NOWHERE.source, compare=False)
