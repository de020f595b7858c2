"""Linear temporal logic: formulas over numbered atoms, and their negation normal form.

The core operators are negation, `&&`, `||`, X, U and R; the others are written with them: F a = true U a,
G a = false R a, a W b = b R (a || b), a V b = a R b.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from memfence.records import Record


class Truth(Record):
    value: bool


class Atom(Record):
    """A predicate on states, known by its number."""

    number: int


class Not(Record):
    operand: Formula


class And(Record):
    """All of at least two `parts`, none of which is an `And`; build it with `all_of`."""

    parts: frozenset[Formula]


class Or(Record):
    """One of at least two `parts`, none of which is an `Or`; build it with `any_of`."""

    parts: frozenset[Formula]


class Next(Record):
    operand: Formula


class Until(Record):
    """`left` holds until `right` does, which must happen."""

    left: Formula
    right: Formula


class Release(Record):
    """`right` holds up to and including the moment when `left` does, for ever if `left` never does."""

    left: Formula
    right: Formula


Formula = Truth | Atom | Not | And | Or | Next | Until | Release

TRUE = Truth(True)
FALSE = Truth(False)


def all_of(parts: Iterable[Formula]) -> Formula:
    """The conjunction, flat, with constants removed; TRUE for none."""
    return _joined(And, parts, TRUE, FALSE)


def any_of(parts: Iterable[Formula]) -> Formula:
    """The disjunction, flat, with constants removed; FALSE for none."""
    return _joined(Or, parts, FALSE, TRUE)


def _joined(kind: type[And | Or], parts: Iterable[Formula], of_none: Truth, decides: Truth) -> Formula:
    flat: set[Formula] = set()
    for part in parts:
        flat |= part.parts if isinstance(part, kind) else {part}
    flat.discard(of_none)
    if decides in flat:
        return decides
    return kind(frozenset(flat)) if len(flat) > 1 else next(iter(flat), of_none)


def eventually(operand: Formula) -> Formula:
    return Until(TRUE, operand)


def always(operand: Formula) -> Formula:
    return Release(FALSE, operand)


def weak_until(left: Formula, right: Formula) -> Formula:
    return Release(right, any_of((left, right)))


def implies(left: Formula, right: Formula) -> Formula:
    return any_of((Not(left), right))


def equivalent(left: Formula, right: Formula) -> Formula:
    return all_of((implies(left, right), implies(right, left)))


def normal_form(formula: Formula, negated: bool = False) -> Formula:
    """`formula`, or its negation, with `Not` only in front of atoms."""
    match formula:
        case Truth(value):
            return Truth(value != negated)
        case Atom():
            return Not(formula) if negated else formula
        case Not(operand):
            return normal_form(operand, not negated)
        case And(parts) | Or(parts):
            combine = all_of if isinstance(formula, And) != negated else any_of
            return combine(normal_form(part, negated) for part in parts)
        case Next(operand):
            return Next(normal_form(operand, negated))
        case Until(left, right) | Release(left, right):
            kind = Until if isinstance(formula, Until) != negated else Release
            return kind(normal_form(left, negated), normal_form(right, negated))
        case _:
            assert_never(formula)


def children(formula: Formula) -> tuple[Formula, ...]:
    """The direct subformulas, in a fixed order."""
    match formula:
        case Truth() | Atom():
            return ()
        case Not(operand) | Next(operand):
            return (operand,)
        case And(parts) | Or(parts):
            return tuple(sorted(parts, key=formula_text))
        case Until(left, right) | Release(left, right):
            return (left, right)
        case _:
            assert_never(formula)


def subformulas(formula: Formula) -> Iterator[Formula]:
    """`formula` and everything below it."""
    yield formula
    for child in children(formula):
        yield from subformulas(child)


def is_propositional(formula: Formula) -> bool:
    """Whether the formula speaks about the present state only."""
    return not any(isinstance(f, Next | Until | Release) for f in subformulas(formula))


def is_stutter_invariant(formula: Formula) -> bool:
    """Whether the formula is surely blind to repeated states: it has no X. Partial-order reduction needs this."""
    return not any(isinstance(f, Next) for f in subformulas(formula))


def formula_text(formula: Formula) -> str:
    """The formula with atoms as `p0`, `p1`, ...; equal formulas have equal texts."""
    match formula:
        case Truth(value):
            return "true" if value else "false"
        case Atom(number):
            return f"p{number}"
        case Not(operand):
            return f"!{formula_text(operand)}"
        case And(parts) | Or(parts):
            sign = " && " if isinstance(formula, And) else " || "
            return f"({sign.join(sorted(formula_text(part) for part in parts))})"
        case Next(operand):
            return f"X {formula_text(operand)}"
        case Until(Truth(True), right):
            return f"F {formula_text(right)}"
        case Release(Truth(False), right):
            return f"G {formula_text(right)}"
        case Until(left, right) | Release(left, right):
            sign = "U" if isinstance(formula, Until) else "R"
            return f"({formula_text(left)} {sign} {formula_text(right)})"
        case _:
            assert_never(formula)
