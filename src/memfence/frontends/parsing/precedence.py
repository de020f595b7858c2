"""Operators of different strength in a flat list: a grammar with a rule for each level is several times slower."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

Value = TypeVar("Value")


def climb(
    operands: Iterable[Value],
    operators: Sequence[str],
    precedence: Mapping[str, int],
    join: Callable[[Value, int, Value], Value],
    right_associative: frozenset[str] = frozenset(),
) -> Value:
    """One value out of `operands` with `operators` between them; those of higher precedence are joined first.

    `join(left, n, right)` makes a value of operator number n and its operands.
    """
    remaining = iter(operands)
    values = [next(remaining)]
    waiting: list[int] = []

    def reduce() -> None:
        right, left = values.pop(), values.pop()
        values.append(join(left, waiting.pop(), right))

    for number, operand in enumerate(remaining):
        level = precedence[operators[number]] + (operators[number] in right_associative)
        while waiting and precedence[operators[waiting[-1]]] >= level:
            reduce()
        waiting.append(number)
        values.append(operand)
    while waiting:
        reduce()
    return values[0]
