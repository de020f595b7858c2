"""`for` and `select` in terms of simpler statements, expanded as Spin expands them."""

from __future__ import annotations

from dataclasses import replace

from memfence.frontends.promela.syntax import (
    Assignment,
    BinaryOperation,
    Break,
    Condition,
    Do,
    Else,
    Expression,
    If,
    Number,
    Reference,
    Sequence,
    Statement,
    Step,
)


def expand_for(variable: Reference, low: Expression, high: Expression, body: Sequence) -> tuple[Step, ...]:
    """`variable = low; do :: variable <= high -> body; variable++ :: else -> break od`."""
    span, name, end = variable.span, variable.span.text, _words(high)

    def step(statement: Statement, shown: str = "") -> Step:
        return Step(statement, replace(span, shown=shown))

    inside = step(Condition(BinaryOperation("<=", variable, high, span)), f"{name} <= {end}")
    one_more = step(Assignment(variable, BinaryOperation("+", variable, Number(1, span), span)), f"{name}++")
    options = ((inside, step(body), one_more), (step(Else(), f"{name} > {end}"), step(Break())))
    return step(Assignment(variable, low), f"{name} = {_words(low)}"), step(Do(options))


def _words(expression: Expression) -> str:
    return " ".join(expression.span.text.split())


def expand_select(step: Step, variable: Reference, first: int, last: int) -> If:
    """One option a value, each an assignment; `step` is the statement itself."""
    values = (Number(value, variable.span) for value in range(first, last + 1))
    return If(tuple((replace(step, statement=Assignment(variable, value), labels=()),) for value in values))
