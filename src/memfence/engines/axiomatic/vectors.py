"""Integers as vectors of literals: two's complement, the least significant bit first, the last one the sign.

Every vector is as wide as the interval of its values demands, and no wider. Values are exact: nothing wraps. Where the
program's evaluation would be an error (a division by zero, a bad shift, more than 128 bits), the bits mean nothing;
whoever uses the value has to know that there was no error.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from memfence.engines.axiomatic.clauses import FALSE, TRUE, Clauses
from memfence.program.expressions import Binary, BinaryOp, Register, RegisterOf, Unary, UnaryOp
from memfence.program.facts.interval_arithmetic import MACHINE, ZERO, Interval, hull, meet, value_of
from memfence.records import Record

Bits = tuple[int, ...]


class Vector(Record):
    """A value between `range.lo` and `range.hi`."""

    bits: Bits
    range: Interval

    def bit(self, number: int) -> int:
        """The bit with this number, of as many as there are."""
        return self.bits[number] if number < len(self.bits) else self.bits[-1]

    def extended(self, width: int) -> Bits:
        """The lowest `width` bits of the same value."""
        return tuple(self.bit(number) for number in range(width))

    @property
    def sign(self) -> int:
        return self.bits[-1]

    @property
    def is_constant(self) -> bool:
        return self.range.lo == self.range.hi


def width_of(values: Interval) -> int:
    """How many bits a value of the interval needs, the sign included."""
    return max(_magnitude(values.lo), _magnitude(values.hi)) + 1


def _magnitude(value: int) -> int:
    return (~value if value < 0 else value).bit_length()


def constant(value: int) -> Vector:
    values = Interval(value, value)
    return Vector(tuple(TRUE if value >> n & 1 else FALSE for n in range(width_of(values))), values)


ZERO_VECTOR = constant(0)


def truth(literal: int) -> Vector:
    """1 where the literal is true, else 0."""
    if abs(literal) == TRUE:
        return constant(int(literal == TRUE))
    return Vector((literal, FALSE), Interval(0, 1))


def cut_to(bits: Sequence[int], values: Interval) -> Vector:
    """A vector of these bits, known to lie in the interval."""
    if values.lo == values.hi:
        return constant(values.lo)
    width = width_of(values)
    kept = [*bits[:width], *[bits[-1]] * (width - len(bits))]
    if values.lo >= 0:
        kept[-1] = FALSE
    elif values.hi < 0:
        kept[-1] = TRUE
    return Vector(tuple(kept), values)


def _nobody(_: RegisterOf) -> Interval:
    raise AssertionError("no registers of others here")


@lru_cache(maxsize=4096)
def range_of_unary(op: UnaryOp, a: Interval) -> Interval:
    """Every value of `op x`, errors aside."""
    return _without_errors(value_of(Unary(op, Register(0)), (a,), _nobody))


@lru_cache(maxsize=4096)
def range_of_binary(op: BinaryOp, a: Interval, b: Interval) -> Interval:
    """Every value of `x op y`, errors aside."""
    return _without_errors(value_of(Binary(op, Register(0), Register(1)), (a, b), _nobody))


def _without_errors(values: Interval | None) -> Interval:
    return (None if values is None else meet(values, MACHINE)) or ZERO


def free_vector(clauses: Clauses, values: Interval) -> Vector:
    """Any value of as many bits as the interval needs, which may be a few more than those in it."""
    return cut_to([clauses.fresh() for _ in range(width_of(values))], values)


def add_bits(clauses: Clauses, a: Sequence[int], b: Sequence[int], carry: int = FALSE) -> list[int]:
    """The sum of two vectors of the same width, modulo as many bits."""
    result = []
    for x, y in zip(a, b, strict=True):
        half = clauses.differ(x, y)
        result.append(clauses.differ(half, carry))
        carry = clauses.majority(x, y, carry)
    return result


def add(clauses: Clauses, a: Vector, b: Vector) -> Vector:
    values = range_of_binary("+", a.range, b.range)
    width = width_of(values)
    return cut_to(add_bits(clauses, a.extended(width), b.extended(width)), values)


def subtract(clauses: Clauses, a: Vector, b: Vector) -> Vector:
    values = range_of_binary("-", a.range, b.range)
    width = width_of(values)
    minus = [-bit for bit in b.extended(width)]
    return cut_to(add_bits(clauses, a.extended(width), minus, TRUE), values)


def bitwise(clauses: Clauses, op: BinaryOp, a: Vector, b: Vector) -> Vector:
    """`a & b`, `a | b` or `a ^ b`."""
    gate = {"&": clauses.both, "|": clauses.either, "^": clauses.differ}[op]
    width = max(len(a.bits), len(b.bits))
    bits = [gate(x, y) for x, y in zip(a.extended(width), b.extended(width), strict=True)]
    return cut_to(bits, range_of_binary(op, a.range, b.range))


def invert(a: Vector) -> Vector:
    """`~a`."""
    return Vector(tuple(-bit for bit in a.bits), Interval(~a.range.hi, ~a.range.lo))


def is_equal(clauses: Clauses, a: Vector, b: Vector) -> int:
    if meet(a.range, b.range) is None:
        return FALSE
    width = max(len(a.bits), len(b.bits))
    pairs = zip(a.extended(width), b.extended(width), strict=True)
    return clauses.all_of([clauses.same(x, y) for x, y in pairs])


def is_not_zero(clauses: Clauses, a: Vector) -> int:
    return clauses.any_of(a.bits)


def is_less(clauses: Clauses, a: Vector, b: Vector, *, or_equal: bool = False) -> int:
    """`a < b`, or `a <= b`."""
    if a.range.hi < b.range.lo + or_equal:
        return TRUE
    if b.range.hi + or_equal <= a.range.lo:
        return FALSE
    width = max(len(a.bits), len(b.bits))
    left, right = a.extended(width), b.extended(width)
    less = TRUE if or_equal else FALSE
    for x, y in zip(left[:-1], right[:-1], strict=True):
        less = clauses.majority(-x, y, less)
    return clauses.majority(left[-1], -right[-1], less)


def choose(clauses: Clauses, condition: int, then: Vector, otherwise: Vector) -> Vector:
    """`then` where the condition is true, else `otherwise`."""
    if abs(condition) == TRUE:
        return then if condition == TRUE else otherwise
    values = hull(then.range, otherwise.range)
    width = width_of(values)
    pairs = zip(then.extended(width), otherwise.extended(width), strict=True)
    return cut_to([clauses.choose(condition, x, y) for x, y in pairs], values)


def one_of(clauses: Clauses, alternatives: Sequence[tuple[int, Vector]]) -> Vector:
    """The vector of the one condition that is true; 0 where none is."""
    if len(alternatives) == 1 and alternatives[0][0] == TRUE:
        return alternatives[0][1]
    values = ZERO
    for _, vector in alternatives:
        values = hull(values, vector.range)
    bits = [
        clauses.any_of([clauses.both(condition, vector.bit(n)) for condition, vector in alternatives])
        for n in range(width_of(values))
    ]
    return cut_to(bits, values)


def demand_equal(clauses: Clauses, condition: int, a: Vector, b: Vector) -> None:
    """Where the condition is true, both have the same value."""
    for number in range(max(len(a.bits), len(b.bits))):
        x, y = a.bit(number), b.bit(number)
        if x != y:
            clauses.add(-condition, -x, y)
            clauses.add(-condition, x, -y)
