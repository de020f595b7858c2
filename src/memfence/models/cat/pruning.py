"""A model without the definitions that no check uses."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from memfence.models.cat.syntax import Base, Binary, Cat, CatExpr, Named, Unary, operands


def pruned(cat: Cat) -> Cat:
    """The same model with those definitions only that some check needs, numbered anew."""
    needed = sorted(_needed(cat))
    number = {old: new for new, old in enumerate(needed)}
    definitions = (replace(cat.definitions[n], body=_renumbered(cat.definitions[n].body, number)) for n in needed)
    axioms = (replace(axiom, body=_renumbered(axiom.body, number)) for axiom in cat.axioms)
    return replace(cat, definitions=tuple(definitions), axioms=tuple(axioms))


def _needed(cat: Cat) -> set[int]:
    waiting = [n for axiom in cat.axioms for n in _names(axiom.body)]
    found: set[int] = set()
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += _names(cat.definitions[number].body)
    return found


def _names(expr: CatExpr) -> list[int]:
    if isinstance(expr, Named):
        return [expr.definition]
    return [name for part in operands(expr) for name in _names(part)]


def _renumbered(expr: CatExpr, number: dict[int, int]) -> CatExpr:
    match expr:
        case Base():
            return expr
        case Named(definition):
            return replace(expr, definition=number[definition])
        case Unary(operand=operand):
            return replace(expr, operand=_renumbered(operand, number))
        case Binary(left=left, right=right):
            return replace(expr, left=_renumbered(left, number), right=_renumbered(right, number))
        case _:
            assert_never(expr)
