"""Which integers a value can be: a list, an interval, or both. Addresses are always listed: pointers stay exact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from memfence.records import Record

ADDRESS_BASE = 0x1A5_0000
"""The lowest address; smaller integers are never taken for one.

A number that programs do not use by themselves: no power of two, no sum of a few, and far from 0. Not larger than that,
since every pointer in a state takes as many bits as the highest address has.
"""

UNWRITTEN = 1 << 200
"""What shared memory holds that nobody has written: no integer of C. Like an address it is always listed.

The explored program has an integer of its own for it, beyond all that is stored beside it (`lowering.unwritten`).
"""

UNLIKELY = -0x5B1C_4E92_7A3D_60F7
"""What stands for it in the explored program where every integer of 64 bits may be stored beside it."""

MOST_NUMBERS = 12
"""Listed numbers that are no addresses; more become an interval."""

MOST_ADDRESSES = 4096
MOST_PAIRS = 4096
"""Combinations of two lists that are computed one by one."""

LOWEST, HIGHEST = -(2**63), 2**63 - 1
"""What a register of the explored program can hold: every integer of 64 bits, as a signed number."""


class ValueSet(Record):
    """The `listed` integers and those from `lo` to `hi`. `is_open`: and others that are not known."""

    listed: frozenset[int]
    lo: int = 1
    hi: int = 0
    is_open: bool = False

    @property
    def has_interval(self) -> bool:
        return self.lo <= self.hi

    @property
    def is_single(self) -> bool:
        return len(self.listed) == 1 and not self.has_interval and not self.is_open

    @property
    def is_empty(self) -> bool:
        return not self.listed and not self.has_interval and not self.is_open

    def bounds(self) -> tuple[int, int] | None:
        """The least and the greatest integer; None where that is not known, or there is none."""
        if self.is_open:
            return None
        ends = [*self.listed, *((self.lo, self.hi) if self.has_interval else ())]
        highest = max(ends, default=0)
        if highest == UNWRITTEN:
            ends.remove(UNWRITTEN)
            highest = max(ends, default=0)
        return (min(ends), highest) if ends else None

    def contains(self, value: int) -> bool:
        return self.is_open or value in self.listed or self.lo <= value <= self.hi

    def addresses(self) -> list[int]:
        return sorted(v for v in self.listed if ADDRESS_BASE <= v < UNWRITTEN)

    def members(self, most: int = 64) -> Iterator[int] | None:
        """Every member, where they are at most `most` and all known."""
        if self.is_open or len(self.listed) + max(0, self.hi - self.lo + 1) > most:
            return None
        return iter(sorted(self.listed | frozenset(range(self.lo, self.hi + 1))))

    def join(self, other: ValueSet) -> ValueSet:
        if other.listed <= self.listed and not other.is_open and (not other.has_interval or self._covers(other)):
            return self
        if not self.has_interval or not other.has_interval:
            lo, hi = (self.lo, self.hi) if self.has_interval else (other.lo, other.hi)
        else:
            lo, hi = min(self.lo, other.lo), max(self.hi, other.hi)
        return _settled(self.listed | other.listed, lo, hi, self.is_open or other.is_open)

    def includes(self, other: ValueSet) -> bool:
        """Whether every member of `other` is one of these, if only as a number of the interval."""
        covers = not other.has_interval or self._covers(other)
        return covers and not other.is_open and all(self.contains(v) for v in other.listed)

    def _covers(self, other: ValueSet) -> bool:
        return self.has_interval and self.lo <= other.lo and other.hi <= self.hi

    def keep(self, test: Callable[[int], bool], lo: int | None = None, hi: int | None = None) -> ValueSet:
        """Those that pass the test, which for the interval is `lo <= value <= hi`."""
        new_lo = self.lo if lo is None or not self.has_interval else max(self.lo, lo)
        new_hi = self.hi if hi is None or not self.has_interval else min(self.hi, hi)
        return ValueSet(frozenset(v for v in self.listed if test(v)), new_lo, new_hi, self.is_open)

    def shifted(self, by: int) -> ValueSet:
        """Every member plus `by`."""
        lo, hi = (self.lo + by, self.hi + by) if self.has_interval else (1, 0)
        return _settled(frozenset(v + by for v in self.listed), lo, hi, self.is_open)

    def without(self, value: int) -> ValueSet:
        """All but this one, if it is listed."""
        return ValueSet(self.listed - {value}, self.lo, self.hi, self.is_open) if value in self.listed else self

    def widened(self, before: ValueSet) -> ValueSet:
        """A larger set, so that sets which keep growing settle: bounds that moved jump to a power of two.

        Addresses stay listed: there are only so many, unless somebody adds to them without end.
        """
        numbers = [v for v in self.listed if v < ADDRESS_BASE or (v < UNWRITTEN and len(self.listed) > MOST_GROWN)]
        ends = [*numbers, *((self.lo, self.hi) if self.has_interval else ())]
        old = [v for v in before.listed if v < ADDRESS_BASE or (v < UNWRITTEN and len(self.listed) > MOST_GROWN)]
        old += [before.lo, before.hi] if before.has_interval else []
        if not ends or (set(old) == set(ends)):
            return self
        lo = min(ends) if old and min(ends) >= min(old) else min(0, _jump(min(ends)))
        hi = max(ends) if old and max(ends) <= max(old) else max(0, _jump(max(ends)))
        return ValueSet(self.listed.difference(numbers), lo, hi, self.is_open)


MOST_GROWN = 64
"""Addresses that memory may hold after it grew again and again."""

JUMPS = (15, 255, 2**31 - 1, HIGHEST)


def _jump(bound: int) -> int:
    """The next bound of this sign, away from 0."""
    limit = next((jump for jump in JUMPS if jump >= abs(bound)), JUMPS[-1])
    return max(LOWEST, -limit - 1) if bound < 0 else limit


def _settled(listed: frozenset[int], lo: int, hi: int, is_open: bool) -> ValueSet:
    numbers = [v for v in listed if v < ADDRESS_BASE]
    if lo <= hi and numbers:
        return ValueSet(listed.difference(numbers), min(lo, *numbers), max(hi, *numbers), is_open)
    if len(numbers) > MOST_NUMBERS:
        return ValueSet(listed.difference(numbers), min(numbers), max(numbers), is_open)
    return ValueSet(listed, lo, hi, is_open)


@lru_cache(4096)
def just(value: int) -> ValueSet:
    """This number alone."""
    return ValueSet(frozenset((value,)))


def listed(values: Iterable[int]) -> ValueSet:
    found = frozenset(values)
    if len(found) > MOST_ADDRESSES:
        numbers = found - {UNWRITTEN}
        return ValueSet(found - numbers, min(numbers), max(numbers))
    return _settled(found, 1, 0, False)


def between(lo: int, hi: int) -> ValueSet:
    return listed(range(lo, hi + 1)) if hi - lo < MOST_NUMBERS else ValueSet(frozenset(), lo, hi)


NOTHING = ValueSet(frozenset())
ANYTHING = ValueSet(frozenset(), is_open=True)


def range_of_bits(bits: int) -> tuple[int, int]:
    """The numbers that an integer of this width can be, as this machine keeps them."""
    return (0, 1) if bits == 1 else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def all_of_bits(bits: int) -> ValueSet:
    return between(*range_of_bits(bits))


def combine(
    a: ValueSet,
    b: ValueSet,
    compute: Callable[[int, int], int | None],
    bounds: Callable[[tuple[int, int], tuple[int, int]], tuple[int, int] | None],
) -> ValueSet:
    """All values of `compute`, None being no value; `bounds` where there are too many to compute them one by one."""
    left, right = a.members(), b.members()
    if left is not None and right is not None:
        firsts, seconds = list(left), list(right)
        if len(firsts) * len(seconds) <= MOST_PAIRS:
            found = (compute(x, y) for x in firsts for y in seconds)
            return listed(v for v in found if v is not None)
    if a.is_empty or b.is_empty:
        return NOTHING
    first, second = a.bounds(), b.bounds()
    if first is None or second is None:
        return ANYTHING
    hull = bounds(first, second)
    return ANYTHING if hull is None else ValueSet(frozenset(), *hull)


def mapped(a: ValueSet, compute: Callable[[int], int]) -> ValueSet | None:
    """The values of `compute`; None where they are too many."""
    members = a.members(4096)
    return None if members is None else listed(compute(v) for v in members)


def within_reach(values: ValueSet) -> ValueSet:
    """The values as a register holds them: what is not known is any integer."""
    return ValueSet(values.listed, LOWEST, HIGHEST) if values.is_open else values
