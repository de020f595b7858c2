"""Intervals of integers: what an expression can evaluate to, and what a condition says about registers.

Sound for the exact integers of `expressions`: evaluating with any register values inside the intervals gives a value
inside the result, or fails (division by zero, bad shift). None stands for "no value": every evaluation fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, assert_never

from memfence.program import expressions

_EDGE = 2**128
_INFINITE = 2**256


class Interval(NamedTuple):
    """The integers from `lo` to `hi`. Bounds past 2**128 either way are not kept: they count as infinite."""

    lo: int
    hi: int

    @property
    def is_finite(self) -> bool:
        return self.lo >= -_EDGE and self.hi <= _EDGE

    def contains(self, other: Interval) -> bool:
        return self.lo <= other.lo and other.hi <= self.hi


EVERYTHING = Interval(-_INFINITE, _INFINITE)
BOOLEAN = Interval(0, 1)
MACHINE = Interval(expressions.LEAST, expressions.MOST)
"""What arithmetic may lead to: whatever lies outside is an error."""
SHIFTS = Interval(0, expressions.FARTHEST_SHIFT)
ZERO = Interval(0, 0)
ONE = Interval(1, 1)

Environment = tuple[Interval, ...]
"""One interval a register of the process."""

Look = Callable[[expressions.RegisterOf], Interval]
"""What a register of another process can hold."""


def interval(lo: int, hi: int) -> Interval:
    """The interval, with bounds that are too large made infinite (never a smaller set)."""
    return Interval(
        -_INFINITE if lo < -_EDGE else min(lo, _EDGE),
        _INFINITE if hi > _EDGE else max(hi, -_EDGE),
    )


def join(a: Interval | None, b: Interval | None) -> Interval | None:
    """The smallest interval that contains both."""
    if a is None or b is None:
        return a if b is None else b
    return Interval(min(a.lo, b.lo), max(a.hi, b.hi))


def hull(a: Interval, b: Interval) -> Interval:
    return Interval(min(a.lo, b.lo), max(a.hi, b.hi))


def meet(a: Interval, b: Interval) -> Interval | None:
    """What the two have in common."""
    lo, hi = max(a.lo, b.lo), min(a.hi, b.hi)
    return Interval(lo, hi) if lo <= hi else None


class Remembering:
    """A `Look` with the values that were computed with it, for as long as what it looks at stays as it is.

    Programs made of C have expressions with the same parts in many places: as trees they are much larger.
    """

    __slots__ = ("_look", "_values")

    def __init__(self, look: Look) -> None:
        self._look = look
        self._values: dict[int, tuple[Environment, Computed]] = {}

    def __call__(self, foreign: expressions.RegisterOf) -> Interval:
        return self._look(foreign)

    def in_environment(self, env: Environment) -> Computed:
        """By the identity of an expression: itself, so that it stays the only one with it, and its value."""
        known = self._values.get(id(env))
        if known is None:
            known = self._values[id(env)] = (env, {})
        return known[1]


Computed = dict[int, tuple[expressions.Expr, Interval | None]]


def value_of(expr: expressions.Expr, env: Environment, look: Look) -> Interval | None:
    """Every value that `expr` can have with registers in `env`. One frame for each level of the expression."""
    if isinstance(expr, expressions.Register):
        return env[expr.index]
    if isinstance(expr, expressions.Const):
        return interval(expr.value, expr.value)
    known = look.in_environment(env) if isinstance(look, Remembering) else None
    found = None if known is None else known.get(id(expr))
    if found is not None:
        return found[1]
    value: Interval | None
    match expr:
        case expressions.RegisterOf():
            value = look(expr)
        case expressions.At() | expressions.BufferEmpty():
            value = BOOLEAN
        case expressions.Shared():
            value = EVERYTHING
        case expressions.Unary(op, operand):
            inner = value_of(operand, env, look)
            value = None if inner is None else _unary(op, inner)
        case expressions.Binary("&&" | "||", _, _):
            value = _connective(expr, env, look)
        case expressions.Binary(op, left, right):
            a, b = value_of(left, env, look), value_of(right, env, look)
            value = None if a is None or b is None else _binary(op, a, b)
        case expressions.Conditional():
            value = _chosen(expr, env, look)
        case _:
            assert_never(expr)
    if known is not None:
        known[id(expr)] = (expr, value)
    return value


def _chosen(expr: expressions.Expr, env: Environment, look: Look) -> Interval | None:
    """The value of a choice, and of those in its last part: what a pointer leads to is a list of a thousand choices."""
    found: Interval | None = None
    rest: Environment | None = env
    while rest is not None and isinstance(expr, expressions.Conditional):
        yes, no = _ways(expr, rest, look)
        found = found if yes is None else join(found, value_of(expr.then, yes, look))
        expr, rest = expr.otherwise, no
    return found if rest is None else join(found, value_of(expr, rest, look))


def _ways(
    choice: expressions.Conditional, env: Environment, look: Look
) -> tuple[Environment | None, Environment | None]:
    """What remains of `env` where the condition is true, as far as the value then depends on it, and where it is false.

    The same as `refine`, but for comparisons with a constant inside of an interval: these tell nothing to whoever goes
    on with another choice.
    """
    condition = choice.condition
    if isinstance(condition, expressions.Binary) and condition.op == "==":
        subject, number = condition.left, condition.right
        value = value_of(subject, env, look) if isinstance(number, expressions.Const) else None
        if value is not None and isinstance(number, expressions.Const) and abs(number.value) < _EDGE:
            if not value.lo <= number.value <= value.hi:
                return None, env
            if value.lo < number.value < value.hi:
                yes = env if isinstance(choice.then, expressions.Const) else refine(condition, True, env, look)
                return yes, env
    return refine(condition, True, env, look), refine(condition, False, env, look)


def _connective(expr: expressions.Expr, env: Environment, look: Look) -> Interval | None:
    true = refine(expr, True, env, look) is not None
    false = refine(expr, False, env, look) is not None
    if true and false:
        return BOOLEAN
    return ONE if true else ZERO if false else None


def _truth(value: bool | None) -> Interval:
    return BOOLEAN if value is None else ONE if value else ZERO


def _unary(op: expressions.UnaryOp, a: Interval) -> Interval:
    match op:
        case "-":
            return interval(-a.hi, -a.lo)
        case "~":
            return interval(-a.hi - 1, -a.lo - 1)
        case "!":
            return _truth(True if a == ZERO else None if a.lo <= 0 <= a.hi else False)
        case _:
            assert_never(op)


def _binary(op: expressions.BinaryOp, a: Interval, b: Interval) -> Interval | None:
    match op:
        case "+":
            return interval(a.lo + b.lo, a.hi + b.hi)
        case "-":
            return interval(a.lo - b.hi, a.hi - b.lo)
        case "*":
            return _corners([x * y for x in a for y in b])
        case "/":
            return _quotient(a, b)
        case "%":
            return _remainder(a, b)
        case "<<" | ">>":
            shift = meet(b, SHIFTS)
            return None if shift is None else _shifted(op == "<<", a, shift)
        case "&" | "|" | "^":
            return _bitwise(op, a, b)
        case "==" | "!=" | "<" | "<=" | ">" | ">=":
            return _truth(_compare(op, a, b))
        case "&&" | "||":
            raise AssertionError(op)
        case _:
            assert_never(op)


def _corners(values: list[int]) -> Interval:
    return interval(min(values), max(values))


def _quotient(a: Interval, b: Interval) -> Interval | None:
    """Truncating division never leaves 0 .. a in absolute value; exact where the divisor has one sign."""
    if b == ZERO:
        return None
    if a.is_finite and b.is_finite:
        divisors = [d for d in (b.lo, b.hi, -1, 1) if d != 0 and b.lo <= d <= b.hi]
        return _corners([_truncated(x, d) for x in a for d in divisors])
    largest = max(abs(a.lo), abs(a.hi))
    return interval(0 if a.lo >= 0 and b.lo >= 0 else -largest, largest)


def _truncated(x: int, d: int) -> int:
    return abs(x) // abs(d) * (1 if (x < 0) == (d < 0) else -1)


def _remainder(a: Interval, b: Interval) -> Interval | None:
    """The remainder has the sign of the dividend and is smaller than the divisor."""
    if b == ZERO:
        return None
    smallest = b.lo if b.lo > 0 else -b.hi if b.hi < 0 else 1
    if -smallest < a.lo and a.hi < smallest:
        return a
    most = max(abs(b.lo), abs(b.hi)) - 1
    return interval(-min(-a.lo, most) if a.lo < 0 else 0, min(a.hi, most) if a.hi > 0 else 0)


def _shifted(left: bool, a: Interval, shift: Interval) -> Interval:
    if left:
        return _corners([x << s for x in a for s in shift])
    # An infinite bound must stay infinite, whatever it is shifted by.
    values = [x if abs(x) > _EDGE else x >> s for x in a for s in shift]
    return _corners(values)


def _bitwise(op: expressions.BinaryOp, a: Interval, b: Interval) -> Interval:
    if op == "&" and (a.lo >= 0 or b.lo >= 0):
        return interval(0, min(x.hi for x in (a, b) if x.lo >= 0))
    bits = max(x.bit_length() for x in (*a, *b))
    if a.lo >= 0 and b.lo >= 0:
        return interval(max(a.lo, b.lo) if op == "|" else 0, 2**bits - 1)
    return interval(-(2**bits), 2**bits - 1)


def _compare(op: expressions.BinaryOp, a: Interval, b: Interval) -> bool | None:
    """The truth of the comparison, None where it depends."""
    if _constrain(op, a, b) is None:
        return False
    return True if _constrain(expressions.OPPOSITES[op], a, b) is None else None


_SWAPPED: dict[expressions.BinaryOp, expressions.BinaryOp] = {">": "<", ">=": "<="}


def _constrain(op: expressions.BinaryOp, a: Interval, b: Interval) -> tuple[Interval, Interval] | None:
    """The parts of the two that can make the comparison true; None if there are none."""
    if op in _SWAPPED:
        swapped = _constrain(_SWAPPED[op], b, a)
        return None if swapped is None else (swapped[1], swapped[0])
    if op == "==":
        both = meet(a, b)
        return None if both is None else (both, both)
    if op == "!=":
        left, right = _without(a, b), _without(b, a)
    else:
        gap = 1 if op == "<" else 0
        left = meet(a, interval(-_INFINITE, b.hi - gap))
        right = meet(b, interval(a.lo + gap, _INFINITE))
    return None if left is None or right is None else (left, right)


def _without(a: Interval, b: Interval) -> Interval | None:
    """`a` without the value of `b`, where `b` is a single value at the edge of `a`."""
    if b.lo != b.hi:
        return a
    lo = a.lo + 1 if a.lo == b.lo else a.lo
    hi = a.hi - 1 if a.hi == b.lo else a.hi
    return interval(lo, hi) if lo <= hi else None


def refine(expr: expressions.Expr, truth: bool, env: Environment, look: Look) -> Environment | None:
    """What remains of `env` where `expr` is true (false); None if it never is."""
    match expr:
        case expressions.Unary("!", operand):
            return refine(operand, not truth, env, look)
        case expressions.Binary("&&" | "||" as op, left, right):
            if (op == "&&") == truth:
                first = refine(left, truth, env, look)
                return None if first is None else refine(right, truth, first, look)
            # Decided by the left operand, or by the right one after the left did not decide.
            decided, undecided = refine(left, truth, env, look), refine(left, not truth, env, look)
            return join_environments(decided, None if undecided is None else refine(right, truth, undecided, look))
        case expressions.Binary("==" | "!=" | "<" | "<=" | ">" | ">=" as op, left, right):
            a, b = value_of(left, env, look), value_of(right, env, look)
            parts = None if a is None or b is None else _constrain(op if truth else expressions.OPPOSITES[op], a, b)
            if parts is None:
                return None
            narrowed = narrow(left, parts[0], env)
            return None if narrowed is None else narrow(right, parts[1], narrowed)
        case _:
            value = value_of(expr, env, look)
            part = None if value is None else _without(value, ZERO) if truth else meet(value, ZERO)
            return None if part is None else narrow(expr, part, env)


def narrow(expr: expressions.Expr, allowed: Interval, env: Environment) -> Environment | None:
    """What remains of `env` where the value of `expr` lies in `allowed`; looks through sums with constants."""
    match expr:
        case expressions.Register(number):
            part = meet(env[number], allowed)
            if part == env[number]:
                return env
            return None if part is None else (*env[:number], part, *env[number + 1 :])
        case expressions.Binary("+", inner, expressions.Const(value)) | expressions.Binary(
            "+", expressions.Const(value), inner
        ):
            return narrow(inner, interval(allowed.lo - value, allowed.hi - value), env)
        case expressions.Binary("-", inner, expressions.Const(value)):
            return narrow(inner, interval(allowed.lo + value, allowed.hi + value), env)
        case _:
            return env


def join_environments(a: Environment | None, b: Environment | None) -> Environment | None:
    if a is None or b is None:
        return a if b is None else b
    return a if a == b else tuple(map(hull, a, b))
