"""When expressions have a value and when values fit: as conditions, for models without states."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memfence.program import expressions
from memfence.program.expressions import (
    FALSE,
    Binary,
    Conditional,
    Const,
    Expr,
    Unary,
    children,
    conjunction,
    disjunction,
    negate,
)
from memfence.program.facts.interval_arithmetic import MACHINE, SHIFTS, Interval
from memfence.program.ir import Domain

LEAST, MOST = Const(expressions.LEAST), Const(expressions.MOST)
Range = Callable[[Expr], Interval]


def conditions(expr: Expr, values: Range) -> Iterator[tuple[Expr, str]]:
    """What must be true for `expr` to have a value, each with the error where it is not, in order of evaluation.

    `values`: what an expression can be; conditions that are always true by that are left out.
    """
    match expr:
        case Binary("&&", left, right):
            yield from conditions(left, values)
            yield from ((disjunction(negate(left), needed), error) for needed, error in conditions(right, values))
        case Binary("||", left, right):
            yield from conditions(left, values)
            yield from ((disjunction(left, needed), error) for needed, error in conditions(right, values))
        case Conditional(condition, then, otherwise):
            yield from conditions(condition, values)
            yield from ((disjunction(negate(condition), c), error) for c, error in conditions(then, values))
            yield from ((disjunction(condition, c), error) for c, error in conditions(otherwise, values))
        case _:
            for child in children(expr):
                yield from conditions(child, values)
            yield from _own(expr, values)


def _own(expr: Expr, values: Range) -> Iterator[tuple[Expr, str]]:
    if isinstance(expr, Binary) and expr.op in ("/", "%"):
        divisor = values(expr.right)
        if divisor.lo <= 0 <= divisor.hi:
            yield Binary("!=", expr.right, Const(0)), "division by zero"
    if isinstance(expr, Binary) and expr.op in ("<<", ">>") and not SHIFTS.contains(values(expr.right)):
        yield _between(expr.right, *SHIFTS), expressions.BAD_SHIFT
    if not MACHINE.contains(values(expr)):
        fits = _within_128_bits(expr)
        if fits is not None:
            yield fits, "arithmetic beyond 128 bits"


def _within_128_bits(expr: Expr) -> Expr | None:
    """Computed without leaving 128 bits; None for operators that never do, with operands that did not."""
    match expr:
        case Unary("-", operand):
            return Binary("!=", operand, LEAST)
        case Binary("+", a, b):
            return _by_sign(b, Binary("<=", a, Binary("-", MOST, b)), Binary(">=", a, Binary("-", LEAST, b)))
        case Binary("-", a, b):
            return _by_sign(b, Binary(">=", a, Binary("+", LEAST, b)), Binary("<=", a, Binary("+", MOST, b)))
        case Binary("<<", a, b):
            return conjunction(Binary("<=", a, Binary(">>", MOST, b)), Binary(">=", a, Binary(">>", LEAST, b)))
        case Binary("*", a, b):
            return _product_fits(a, b)
        case Binary("/", a, b):
            return disjunction(Binary("!=", a, LEAST), Binary("!=", b, Const(-1)))
        case _:
            return None


def _by_sign(b: Expr, if_positive: Expr, otherwise: Expr) -> Expr:
    return Conditional(Binary(">=", b, Const(0)), if_positive, otherwise)


def _product_fits(a: Expr, b: Expr) -> Expr:
    positive = conjunction(Binary("<=", b, Binary("/", MOST, a)), Binary(">=", b, Binary("/", LEAST, a)))
    negative = conjunction(Binary(">=", b, Binary("/", MOST, a)), Binary("<=", b, Binary("/", LEAST, a)))
    by_sign = Conditional(Binary(">", a, Const(0)), positive, negative)
    by_minus_one = Conditional(Binary("==", a, Const(-1)), Binary("!=", b, LEAST), by_sign)
    return disjunction(Binary("==", a, Const(0)), by_minus_one)


def _between(expr: Expr, lo: int, hi: int) -> Expr:
    return conjunction(Binary(">=", expr, Const(lo)), Binary("<=", expr, Const(hi)))


def inside(domain: Domain, value: Expr, values: Range) -> Expr | None:
    """The condition that `value` can be stored there without an error; None where it always can."""
    found = values(value)
    if domain.overflow == "wrap" or Interval(domain.lo, domain.hi).contains(found):
        return None
    if found.hi < domain.lo or found.lo > domain.hi:
        return FALSE
    return _between(value, domain.lo, domain.hi)


def fitted(domain: Domain, value: Expr, values: Range) -> Expr:
    """`value` as it is stored; where it lies outside without wrapping, anything."""
    if domain.overflow != "wrap" or Interval(domain.lo, domain.hi).contains(values(value)):
        return value
    lo, size = domain.lo, domain.size
    if size & (size - 1) == 0:
        mask = Const(size - 1)
        low = Binary("&", value, mask)
        shifted = low if lo % size == 0 else Binary("&", Binary("-", low, Const(lo % size)), mask)
        return shifted if lo == 0 else Binary("+", shifted, Const(lo))
    rest = Binary("%", value, Const(size))  # of the sign of the value: made positive, then moved to the range
    positive = Binary("%", Binary("+", rest, Const(size + (-lo) % size)), Const(size))
    return positive if lo == 0 else Binary("+", positive, Const(lo))


def in_bounds(index: Expr, size: int, values: Range) -> Expr | None:
    """The condition that `index` chooses one of `size` elements; None where it always does."""
    found = values(index)
    return None if Interval(0, size - 1).contains(found) else _between(index, 0, size - 1)
