"""`for` and `select` in terms of simpler statements, expanded as Spin expands them."""

from __future__ import annotations

from dataclasses import replace

from memfence.frontends.promela import syntax


def expand_for(
    variable: syntax.Reference, low: syntax.Expression, high: syntax.Expression, body: syntax.Sequence
) -> tuple[syntax.Step, ...]:
    """`variable = low; do :: variable <= high -> body; variable++ :: else -> break od`."""
    span, name, end = variable.span, variable.span.text, _words(high)

    def step(statement: syntax.Statement, shown: str = "") -> syntax.Step:
        return syntax.Step(statement, replace(span, shown=shown))

    inside = step(syntax.Condition(syntax.BinaryOperation("<=", variable, high, span)), f"{name} <= {end}")
    one_more = step(
        syntax.Assignment(variable, syntax.BinaryOperation("+", variable, syntax.Number(1, span), span)), f"{name}++"
    )
    options = ((inside, step(body), one_more), (step(syntax.Else(), f"{name} > {end}"), step(syntax.Break())))
    return step(syntax.Assignment(variable, low), f"{name} = {_words(low)}"), step(syntax.Do(options))


def _words(expression: syntax.Expression) -> str:
    return expression.span.shown or " ".join(expression.span.text.split())


def expand_select(step: syntax.Step, variable: syntax.Reference, first: int, last: int) -> syntax.If:
    """One option a value, each an assignment; `step` is the statement itself."""
    values = (syntax.Number(value, variable.span) for value in range(first, last + 1))
    return syntax.If(
        tuple((replace(step, statement=syntax.Assignment(variable, value), labels=()),) for value in values)
    )
