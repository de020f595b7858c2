"""What a litmus test in C says: expressions and statements of a small C, each with its place."""

from __future__ import annotations

from typing import Literal

from memfence.frontends.parsing.syntax import Name
from memfence.program.expressions import BinaryOp, UnaryOp
from memfence.records import dataclass
from memfence.source import Span


@dataclass(frozen=True, slots=True)
class Number:
    value: int
    span: Span


@dataclass(frozen=True, slots=True)
class Deref:
    """`*pointer`, or `pointer[index]` as `*(pointer + index)`."""

    pointer: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class AddressOf:
    operand: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Prefix:
    op: UnaryOp
    operand: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Infix:
    op: BinaryOp
    left: Expression
    right: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Ternary:
    condition: Expression
    then: Expression
    otherwise: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    function: Name
    arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Assignment:
    """`target = value`, or with an operator `target += value`. `gives_old`: its value is the old one, as of `x++`."""

    target: Expression
    op: BinaryOp | None
    value: Expression
    span: Span
    gives_old: bool = False


Expression = Number | Name | Deref | AddressOf | Prefix | Infix | Ternary | Call | Assignment


@dataclass(frozen=True, slots=True)
class Declaration:
    """`int r0 = value;`, one variable of it. `is_truth`: of type bool. `ends`: a fence can be written behind it."""

    name: Name
    value: Expression | None
    is_truth: bool
    span: Span
    ends: bool


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression as a statement. `ends`: a fence can be written behind it, as it cannot in the head of a loop.

    `is_lone`: it is the whole body of an `if` or a loop.
    """

    value: Expression
    span: Span
    ends: bool = True
    is_lone: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If:
    condition: Expression
    then: Statement
    otherwise: Statement
    span: Span


@dataclass(frozen=True, slots=True)
class While:
    """Every loop: `step` follows each round, `continue` goes there; `tests_last`: the first round is not asked for."""

    condition: Expression
    body: Statement
    step: Statement
    tests_last: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Jump:
    kind: Literal["break", "continue", "return"]
    span: Span


Statement = Declaration | Evaluate | Block | If | While | Jump
NOTHING = Block(())


@dataclass(frozen=True, slots=True)
class Parameter:
    """A pointer to a shared variable of the same name."""

    name: Name
    is_atomic: bool


@dataclass(frozen=True, slots=True)
class ThreadText:
    name: Name
    parameters: tuple[Parameter, ...]
    body: Block
