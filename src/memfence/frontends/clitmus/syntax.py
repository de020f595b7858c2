"""What a litmus test in C says: expressions and statements of a small C, each with its place."""

from __future__ import annotations

from typing import Literal

from memfence.frontends.parsing.syntax import Name
from memfence.program.expressions import BinaryOp, UnaryOp
from memfence.records import Record
from memfence.source import Span


class Number(Record):
    value: int
    span: Span


class Deref(Record):
    """`*pointer`, or `pointer[index]` as `*(pointer + index)`."""

    pointer: Expression
    span: Span


class AddressOf(Record):
    operand: Expression
    span: Span


class Prefix(Record):
    op: UnaryOp
    operand: Expression
    span: Span


class Infix(Record):
    op: BinaryOp
    left: Expression
    right: Expression
    span: Span


class Ternary(Record):
    condition: Expression
    then: Expression
    otherwise: Expression
    span: Span


class Call(Record):
    function: Name
    arguments: tuple[Expression, ...]
    span: Span


class Assignment(Record):
    """`target = value`, or with an operator `target += value`. `gives_old`: its value is the old one, as of `x++`."""

    target: Expression
    op: BinaryOp | None
    value: Expression
    span: Span
    gives_old: bool = False


Expression = Number | Name | Deref | AddressOf | Prefix | Infix | Ternary | Call | Assignment


class Declaration(Record):
    """`int r0 = value;`, one variable of it. `is_truth`: of type bool. `ends`: a fence can be written behind it."""

    name: Name
    value: Expression | None
    is_truth: bool
    span: Span
    ends: bool


class Evaluate(Record):
    """An expression as a statement. `ends`: a fence can be written behind it, as it cannot in the head of a loop.

    `is_lone`: it is the whole body of an `if` or a loop.
    """

    value: Expression
    span: Span
    ends: bool = True
    is_lone: bool = False


class Block(Record):
    body: tuple[Statement, ...]


class If(Record):
    condition: Expression
    then: Statement
    otherwise: Statement
    span: Span


class While(Record):
    """Every loop: `step` follows each round, `continue` goes there; `tests_last`: the first round is not asked for."""

    condition: Expression
    body: Statement
    step: Statement
    tests_last: bool
    span: Span


class Jump(Record):
    kind: Literal["break", "continue", "return"]
    span: Span


Statement = Declaration | Evaluate | Block | If | While | Jump
NOTHING = Block(())


class Parameter(Record):
    """A pointer to a shared variable of the same name."""

    name: Name
    is_atomic: bool


class ThreadText(Record):
    name: Name
    parameters: tuple[Parameter, ...]
    body: Block
