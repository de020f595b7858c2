"""A formula and the labels of its tableau as the proved checker reads them: it checks the tableau by itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from memfence.certificates.checker.tableau import Item, Labels
from memfence.program.text.canonical import ABSENT
from memfence.questions.ltl.formula import And, Atom, Formula, Next, Not, Or, Release, Truth, Until, children


def tableau_text(labels: Labels | None) -> str:
    """The formula, the items of each node, and the item of each mark."""
    if labels is None:
        return ABSENT
    nodes = " ".join(f"({_items(node)})" for node in labels.nodes)
    return f"({formula_text(labels.formula)} ({nodes}) ({' '.join(map(_item, labels.untils))}))"


def _items(items: Iterable[Item]) -> str:
    return " ".join(sorted(map(_item, items)))


def _item(item: Item) -> str:
    formula, is_refuted = item
    return f"(refuted {formula_text(formula)})" if is_refuted else formula_text(formula)


def formula_text(formula: Formula) -> str:
    """The same text for the same formula; `&&` and `||` of several parts are nested."""
    match formula:
        case Truth(value):
            return "true" if value else "false"
        case Atom(number):
            return f"(atom {number})"
        case Not(operand):
            return f"(not {formula_text(operand)})"
        case Next(operand):
            return f"(next {formula_text(operand)})"
        case And() | Or():
            return _nested("and" if isinstance(formula, And) else "or", children(formula))
        case Until(left, right):
            return f"(until {formula_text(left)} {formula_text(right)})"
        case Release(left, right):
            return f"(release {formula_text(left)} {formula_text(right)})"
        case _:
            assert_never(formula)


def _nested(word: str, parts: Iterable[Formula]) -> str:
    first, *rest = map(formula_text, parts)
    for part in rest:
        first = f"({word} {first} {part})"
    return first
