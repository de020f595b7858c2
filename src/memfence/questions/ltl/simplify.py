"""Equivalent, smaller formulas (after Somenzi and Bloem, CAV 2000, and Etessami and Holzmann, CONCUR 2000).

Only the rules for `||`, X and U are written out: those for `&&` and R are their duals, reached by negation.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from memfence.questions.ltl import formula as ltl


def simplify(formula: ltl.Formula) -> ltl.Formula:
    """An equivalent formula in negation normal form, usually smaller. `formula` must be in that form too."""
    while True:
        simpler = _simplify(formula)
        if simpler == formula:
            return formula
        formula = simpler


def _negate(formula: ltl.Formula) -> ltl.Formula:
    return ltl.normal_form(formula, True)


@lru_cache(maxsize=20_000)
def _simplify(formula: ltl.Formula) -> ltl.Formula:
    match formula:
        case ltl.Truth() | ltl.Atom() | ltl.Not():
            return formula
        case ltl.Or(parts):
            return _or([_simplify(part) for part in parts])
        case ltl.And(parts):
            return _negate(_or([_negate(_simplify(part)) for part in parts]))
        case ltl.Next(operand):
            return _next(_simplify(operand))
        case ltl.Until(left, right):
            return _until(_simplify(left), _simplify(right))
        case ltl.Release(left, right):
            return _negate(_until(_negate(_simplify(left)), _negate(_simplify(right))))


def _or(parts: Iterable[ltl.Formula]) -> ltl.Formula:
    whole = ltl.any_of(parts)
    if not isinstance(whole, ltl.Or):
        return whole
    merged = ltl.any_of(_merge(sorted(whole.parts, key=ltl.formula_text)))
    if not isinstance(merged, ltl.Or):
        return merged
    kept = sorted(merged.parts, key=ltl.formula_text)
    if any(implies(_negate(a), b) for a in kept for b in kept):
        return ltl.TRUE
    for part in list(kept):
        if any(implies(part, other) for other in kept if other is not part):
            kept.remove(part)
    return ltl.any_of(kept)


def _merge(parts: list[ltl.Formula]) -> list[ltl.Formula]:
    """Disjuncts put together: X a || X b, a U b || a U c, a R c || b R c, GF a || GF b."""
    nexts: list[ltl.Formula] = []
    until: dict[ltl.Formula, list[ltl.Formula]] = {}
    release: dict[ltl.Formula, list[ltl.Formula]] = {}
    again: list[ltl.Formula] = []
    rest: list[ltl.Formula] = []
    for part in parts:
        match part:
            case ltl.Next(operand):
                nexts.append(operand)
            case ltl.Release(ltl.Truth(False), ltl.Until(ltl.Truth(True), operand)):
                again.append(operand)
            case ltl.Until(left, right):
                until.setdefault(left, []).append(right)
            case ltl.Release(left, right):
                release.setdefault(right, []).append(left)
            case _:
                rest.append(part)
    if nexts:
        rest.append(ltl.Next(ltl.any_of(nexts)))
    if again:
        rest.append(ltl.Release(ltl.FALSE, ltl.Until(ltl.TRUE, ltl.any_of(again))))
    rest += [ltl.Until(left, ltl.any_of(rights)) for left, rights in until.items()]
    rest += [ltl.Release(ltl.any_of(lefts), right) for right, lefts in release.items()]
    return rest


def _next(operand: ltl.Formula) -> ltl.Formula:
    if isinstance(operand, ltl.Truth) or (is_eventual(operand) and is_universal(operand)):
        return operand
    return ltl.Next(operand)


def _until(left: ltl.Formula, right: ltl.Formula) -> ltl.Formula:
    if isinstance(right, ltl.Truth) or left == ltl.FALSE or implies(left, right) or is_eventual(right):
        return right
    if left != ltl.TRUE and implies(_negate(right), left):
        left = ltl.TRUE
    match right:
        case ltl.Until(inner, _) if implies(left, inner):
            return right
        case ltl.Until(_, goal) if left == ltl.TRUE:
            return _until(ltl.TRUE, goal)
        case ltl.Or(parts) if any(is_eventual(part) for part in parts):
            ready = [part for part in parts if is_eventual(part)]
            return ltl.any_of([*ready, _until(left, ltl.any_of(parts - set(ready)))])
        case ltl.And(parts) if left == ltl.TRUE and any(is_suspendable(part) for part in parts):
            lasting = [part for part in parts if is_suspendable(part)]
            return ltl.all_of([*lasting, _until(ltl.TRUE, ltl.all_of(parts - set(lasting)))])
        case ltl.Next(later):
            match left:
                case ltl.Next(before):
                    return ltl.Next(_until(before, later))
                case ltl.Truth(True):
                    return ltl.Next(_until(ltl.TRUE, later))
    return ltl.Until(left, right)


@lru_cache(maxsize=20_000)
def is_eventual(formula: ltl.Formula) -> bool:
    """Whether the formula surely holds as soon as it holds some time later."""
    match formula:
        case ltl.Truth() | ltl.Until(ltl.Truth(True), _):
            return True
        case ltl.And(parts) | ltl.Or(parts):
            return all(is_eventual(part) for part in parts)
        case ltl.Next(operand) | ltl.Until(_, operand) | ltl.Release(ltl.Truth(False), operand):
            return is_eventual(operand)
        case ltl.Release(left, right):
            return is_eventual(left) and is_eventual(right)
        case ltl.Atom() | ltl.Not():
            return False


def is_universal(formula: ltl.Formula) -> bool:
    """Whether the formula surely holds at all later times once it holds."""
    return is_eventual(_negate(formula))


def is_suspendable(formula: ltl.Formula) -> bool:
    """Whether the formula holds either always or never, as GF a does."""
    return is_eventual(formula) and is_universal(formula)


@lru_cache(maxsize=100_000)
def implies(a: ltl.Formula, b: ltl.Formula) -> bool:
    """Whether `a` implies `b` by syntactic rules: sound, not complete."""
    if a in (b, ltl.FALSE) or b == ltl.TRUE:
        return True
    match a:
        case ltl.Or(parts):
            return all(implies(part, b) for part in parts)
        case ltl.And(parts) if any(implies(part, b) for part in parts):
            return True
    match b:
        case ltl.And(parts):
            return all(implies(a, part) for part in parts)
        case ltl.Or(parts) if any(implies(a, part) for part in parts):
            return True
    match a, b:
        case (ltl.Next(x), ltl.Next(y)):
            return implies(x, y)
        case (ltl.Until(w, x), ltl.Until(y, z)) | (ltl.Release(w, x), ltl.Release(y, z)):
            if implies(w, y) and implies(x, z):
                return True
    match a:
        case ltl.Until(x, y) if implies(x, b) and implies(y, b):
            return True
        case ltl.Release(_, y) if implies(y, b):
            return True
    match b:
        case ltl.Until(_, y) if implies(a, y):
            return True
        case ltl.Release(x, y) if implies(a, x) and implies(a, y):
            return True
    return False
