"""Equivalent, smaller formulas (after Somenzi and Bloem, CAV 2000, and Etessami and Holzmann, CONCUR 2000).

Only the rules for `||`, X and U are written out: those for `&&` and R are their duals, reached by negation.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from memfence.questions.ltl.formula import (
    FALSE,
    TRUE,
    And,
    Atom,
    Formula,
    Next,
    Not,
    Or,
    Release,
    Truth,
    Until,
    all_of,
    any_of,
    formula_text,
    normal_form,
)


def simplify(formula: Formula) -> Formula:
    """An equivalent formula in negation normal form, usually smaller. `formula` must be in that form too."""
    while True:
        simpler = _simplify(formula)
        if simpler == formula:
            return formula
        formula = simpler


def _negate(formula: Formula) -> Formula:
    return normal_form(formula, True)


@lru_cache(maxsize=20_000)
def _simplify(formula: Formula) -> Formula:
    match formula:
        case Truth() | Atom() | Not():
            return formula
        case Or(parts):
            return _or([_simplify(part) for part in parts])
        case And(parts):
            return _negate(_or([_negate(_simplify(part)) for part in parts]))
        case Next(operand):
            return _next(_simplify(operand))
        case Until(left, right):
            return _until(_simplify(left), _simplify(right))
        case Release(left, right):
            return _negate(_until(_negate(_simplify(left)), _negate(_simplify(right))))


def _or(parts: Iterable[Formula]) -> Formula:
    whole = any_of(parts)
    if not isinstance(whole, Or):
        return whole
    merged = any_of(_merge(sorted(whole.parts, key=formula_text)))
    if not isinstance(merged, Or):
        return merged
    kept = sorted(merged.parts, key=formula_text)
    if any(implies(_negate(a), b) for a in kept for b in kept):
        return TRUE
    for part in list(kept):
        if any(implies(part, other) for other in kept if other is not part):
            kept.remove(part)
    return any_of(kept)


def _merge(parts: list[Formula]) -> list[Formula]:
    """Disjuncts put together: X a || X b, a U b || a U c, a R c || b R c, GF a || GF b."""
    nexts: list[Formula] = []
    until: dict[Formula, list[Formula]] = {}
    release: dict[Formula, list[Formula]] = {}
    again: list[Formula] = []
    rest: list[Formula] = []
    for part in parts:
        match part:
            case Next(operand):
                nexts.append(operand)
            case Release(Truth(False), Until(Truth(True), operand)):
                again.append(operand)
            case Until(left, right):
                until.setdefault(left, []).append(right)
            case Release(left, right):
                release.setdefault(right, []).append(left)
            case _:
                rest.append(part)
    if nexts:
        rest.append(Next(any_of(nexts)))
    if again:
        rest.append(Release(FALSE, Until(TRUE, any_of(again))))
    rest += [Until(left, any_of(rights)) for left, rights in until.items()]
    rest += [Release(any_of(lefts), right) for right, lefts in release.items()]
    return rest


def _next(operand: Formula) -> Formula:
    if isinstance(operand, Truth) or (is_eventual(operand) and is_universal(operand)):
        return operand
    return Next(operand)


def _until(left: Formula, right: Formula) -> Formula:
    if isinstance(right, Truth) or left == FALSE or implies(left, right) or is_eventual(right):
        return right
    if left != TRUE and implies(_negate(right), left):
        left = TRUE
    match right:
        case Until(inner, _) if implies(left, inner):
            return right
        case Until(_, goal) if left == TRUE:
            return _until(TRUE, goal)
        case Or(parts) if any(is_eventual(part) for part in parts):
            ready = [part for part in parts if is_eventual(part)]
            return any_of([*ready, _until(left, any_of(parts - set(ready)))])
        case And(parts) if left == TRUE and any(is_suspendable(part) for part in parts):
            lasting = [part for part in parts if is_suspendable(part)]
            return all_of([*lasting, _until(TRUE, all_of(parts - set(lasting)))])
        case Next(later):
            match left:
                case Next(before):
                    return Next(_until(before, later))
                case Truth(True):
                    return Next(_until(TRUE, later))
    return Until(left, right)


@lru_cache(maxsize=20_000)
def is_eventual(formula: Formula) -> bool:
    """Whether the formula surely holds as soon as it holds some time later."""
    match formula:
        case Truth() | Until(Truth(True), _):
            return True
        case And(parts) | Or(parts):
            return all(is_eventual(part) for part in parts)
        case Next(operand) | Until(_, operand) | Release(Truth(False), operand):
            return is_eventual(operand)
        case Release(left, right):
            return is_eventual(left) and is_eventual(right)
        case Atom() | Not():
            return False


def is_universal(formula: Formula) -> bool:
    """Whether the formula surely holds at all later times once it holds."""
    return is_eventual(_negate(formula))


def is_suspendable(formula: Formula) -> bool:
    """Whether the formula holds either always or never, as GF a does."""
    return is_eventual(formula) and is_universal(formula)


@lru_cache(maxsize=100_000)
def implies(a: Formula, b: Formula) -> bool:
    """Whether `a` implies `b` by syntactic rules: sound, not complete."""
    if a in (b, FALSE) or b == TRUE:
        return True
    match a:
        case Or(parts):
            return all(implies(part, b) for part in parts)
        case And(parts) if any(implies(part, b) for part in parts):
            return True
    match b:
        case And(parts):
            return all(implies(a, part) for part in parts)
        case Or(parts) if any(implies(a, part) for part in parts):
            return True
    match a, b:
        case (Next(x), Next(y)):
            return implies(x, y)
        case (Until(w, x), Until(y, z)) | (Release(w, x), Release(y, z)) if implies(w, y) and implies(x, z):
            return True
    match a:
        case Until(x, y) if implies(x, b) and implies(y, b):
            return True
        case Release(_, y) if implies(y, b):
            return True
    match b:
        case Until(_, y) if implies(a, y):
            return True
        case Release(x, y) if implies(a, x) and implies(a, y):
            return True
    return False
