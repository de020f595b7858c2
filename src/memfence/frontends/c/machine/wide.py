"""Integers beyond 32 bits, which no register or variable of the explored program holds: each has a code that they hold.

Code that packs flags into the high bits of a word uses few such integers. A way that has read a code goes on once for
each integer that it may stand for, so that everything computed from it is known. What is not one of a few is cut off.
"""

from __future__ import annotations

from memfence.frontends.c.machine.value_sets import HIGHEST, LOWEST, ValueSet, listed
from memfence.frontends.c.machine.values import Known, Parts, Scalar, Unknown, Value

MOST_CODES = 12
LOWEST_CODE = HIGHEST - MOST_CODES
"""Numbers from here to the highest are codes. No object lies there, and like addresses they are always listed."""
MOST_FORKS = 32


def is_wide(value: int) -> bool:
    return not LOWEST <= value <= HIGHEST


class Codes:
    """The integers that have a code, by their codes. A code, once given, stays."""

    def __init__(self) -> None:
        self._code_of: dict[int, int] = {}
        self._meaning: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._code_of)

    def code_of(self, value: int) -> int:
        """What stands for `value`: itself, where that is possible; and where there is no code left."""
        if not is_wide(value):
            return value
        if value not in self._code_of and len(self._code_of) < MOST_CODES:
            code = self._code_of[value] = HIGHEST - 1 - len(self._code_of)
            self._meaning[code] = value
        return self._code_of.get(value, value)

    def coded(self, value: Scalar) -> Scalar:
        """The value as memory holds it."""
        return Known(self.code_of(value.value)) if isinstance(value, Known) and not value.undefined else value

    def among(self, values: ValueSet) -> list[tuple[int, int]]:
        """The codes that a value can be, with what they stand for."""
        return [(v, self._meaning[v]) for v in sorted(values.listed) if v in self._meaning]

    def in_value(self, value: Value) -> Unknown | None:
        """A part of the value that may be a code."""
        if isinstance(value, Parts):
            return next((found for item in value.items if (found := self.in_value(item)) is not None), None)
        return value if isinstance(value, Unknown) and self._code_of and self.among(value.values) else None


def members_to_fork(results: ValueSet, operand: Scalar) -> list[int] | None:
    """The values of an operand, where the results of an operation on them are few and some are beyond 32 bits."""
    if not isinstance(operand, Unknown):
        return None
    bounds = results.bounds()
    if bounds is None or (bounds[0] >= LOWEST and bounds[1] <= HIGHEST):
        return None
    members = operand.values.members(MOST_FORKS)
    return None if members is None else list(members)


def replaced(value: Value, part: Unknown, by: Scalar) -> Value:
    """`value` with `by` wherever it is `part`."""
    if isinstance(value, Parts):
        return Parts(tuple(replaced(item, part, by) for item in value.items))
    return by if isinstance(value, Unknown) and value.expr == part.expr else value


def without_codes(part: Unknown, codes: list[tuple[int, int]]) -> Unknown:
    kept = part.values.listed.difference(code for code, _ in codes)
    return Unknown(part.expr, ValueSet(listed(kept).listed, part.values.lo, part.values.hi, part.values.is_open))
