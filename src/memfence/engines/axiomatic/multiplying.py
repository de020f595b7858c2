"""Products, quotients, remainders and shifts of vectors, as one does them by hand: digit by digit."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.engines.axiomatic.clauses import FALSE, TRUE, Clauses
from memfence.engines.axiomatic.vectors import Bits, Vector, add_bits, cut_to, range_of_binary, width_of
from memfence.program.expressions import FARTHEST_SHIFT
from memfence.program.facts.interval_arithmetic import Interval


def multiply(clauses: Clauses, a: Vector, b: Vector) -> Vector:
    """The sum of `a`, shifted to every bit of `b`, modulo the width of the result."""
    values = range_of_binary("*", a.range, b.range)
    width = width_of(values)
    left, right = a.extended(width), b.extended(width)
    if sum(abs(bit) != TRUE for bit in left) < sum(abs(bit) != TRUE for bit in right):
        left, right = right, left
    total: Sequence[int] = (FALSE,) * width
    for shift, digit in enumerate(right):
        if digit != FALSE:
            row = [FALSE] * shift + [clauses.both(digit, bit) for bit in left[: width - shift]]
            total = add_bits(clauses, total, row)
    return cut_to(total, values)


def divide(clauses: Clauses, a: Vector, b: Vector) -> Vector:
    """`a / b`, truncated towards zero."""
    quotient, _ = _divide_magnitudes(clauses, a, b)
    sign = clauses.differ(a.sign, b.sign)
    return cut_to(_with_sign(clauses, quotient, sign), range_of_binary("/", a.range, b.range))


def remainder(clauses: Clauses, a: Vector, b: Vector) -> Vector:
    """`a % b`, with the sign of `a`."""
    _, rest = _divide_magnitudes(clauses, a, b)
    return cut_to(_with_sign(clauses, rest, a.sign), range_of_binary("%", a.range, b.range))


def _magnitude(clauses: Clauses, a: Vector) -> Bits:
    """The absolute value, without a sign bit: as wide as the vector, since -2**n needs n + 1 bits."""
    flipped = [clauses.differ(bit, a.sign) for bit in a.bits]
    zero = (FALSE,) * len(flipped)
    return tuple(add_bits(clauses, flipped, zero, a.sign))


def _with_sign(clauses: Clauses, magnitude: Bits, sign: int) -> list[int]:
    flipped = [clauses.differ(bit, sign) for bit in (*magnitude, FALSE)]
    return add_bits(clauses, flipped, (FALSE,) * len(flipped), sign)


def _divide_magnitudes(clauses: Clauses, a: Vector, b: Vector) -> tuple[Bits, Bits]:
    """Quotient and remainder of the absolute values."""
    dividend, divisor = _magnitude(clauses, a), _magnitude(clauses, b)
    power = _power_of_two(divisor)
    if power is not None:
        return (*dividend[power:], FALSE), (*dividend[:power], FALSE)
    rest: list[int] = [FALSE] * (len(divisor) + 1)
    minus = [-bit for bit in (*divisor, FALSE)]
    quotient = []
    for digit in reversed(dividend):
        rest = [digit, *rest[:-1]]
        less = add_bits(clauses, rest, minus, TRUE)
        fits = -less[-1]
        rest = [clauses.choose(fits, x, y) for x, y in zip(less, rest, strict=True)]
        quotient.append(fits)
    return tuple(reversed(quotient)), tuple(rest)


def _power_of_two(bits: Bits) -> int | None:
    """n where the bits are those of 2**n."""
    if any(abs(bit) != TRUE for bit in bits) or bits.count(TRUE) != 1:
        return None
    return bits.index(TRUE)


def shift(clauses: Clauses, a: Vector, by: Vector, *, left: bool) -> Vector:
    """`a << by` or `a >> by`, which keeps the sign."""
    values = range_of_binary("<<" if left else ">>", a.range, by.range)
    width = max(width_of(values), len(a.bits))
    bits = list(a.extended(width))
    for number in range(FARTHEST_SHIFT.bit_length()):
        condition = by.bit(number)
        if condition != FALSE:
            moved = _moved(bits, 1 << number, left=left)
            bits = [clauses.choose(condition, x, y) for x, y in zip(moved, bits, strict=True)]
    return cut_to(bits, values)


def _moved(bits: list[int], by: int, *, left: bool) -> list[int]:
    by = min(by, len(bits))
    return [FALSE] * by + bits[: len(bits) - by] if left else bits[by:] + [bits[-1]] * by


def negate(clauses: Clauses, a: Vector) -> Vector:
    """`-a`."""
    values = Interval(-a.range.hi, -a.range.lo)
    width = width_of(values)
    flipped = [-bit for bit in a.extended(width)]
    return cut_to(add_bits(clauses, flipped, (FALSE,) * width, TRUE), values)
