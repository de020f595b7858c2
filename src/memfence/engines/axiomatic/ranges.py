"""Intervals for the slots of unrolled code: how wide a vector has to be.

Values go from writes to reads, and from there through slots to other writes. An execution whose values can be computed
at all passes no write twice on such a way. So after as many rounds as there are writes, nothing is missing: a counter
that four threads increment lies between 0 and 4, whatever its type allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from memfence.axiomatic.code import Choose, Code, Define, Join, Read, Thread, Write
from memfence.engines.axiomatic.counters import find_counters
from memfence.program.expressions import Address, Expr, RegisterOf
from memfence.program.facts.interval_arithmetic import EVERYTHING, MACHINE, ZERO, Interval, hull, meet, value_of

MOST_ROUNDS = 40
"""Beyond, a variable may have every value of its domain: wider vectors are cheaper than more rounds."""


@lru_cache(maxsize=4)
def ranges_of(code: Code) -> Ranges:
    """The ranges of a code, which is asked about under several models."""
    return Ranges(code)


class Ranges:
    """`slots[thread][slot]` and `memory[variable]`: every value that they can have; `counters`: see there."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.slots: list[list[Interval]] = [[ZERO] * thread.slots for thread in code.threads]
        self.memory = [Interval(min(v.init), max(v.init)) for v in code.program.variables]
        self.counters = find_counters(code)
        for variable, values in self.counters.items():
            self.memory[variable] = values
        writes = sum(isinstance(item, Write) for thread in code.threads for item in thread.items)
        for _ in range(min(writes + 1, MOST_ROUNDS)):
            if not self._round():
                return
        if writes + 1 > MOST_ROUNDS:
            self._widen()

    def _round(self) -> bool:
        """Compute everything once, in order; whether memory can hold more than before."""
        self._before = list(self.memory)
        for thread, slots in zip(self.code.threads, self.slots, strict=True):
            self._compute(thread, slots)
        return self.memory != self._before

    def _widen(self) -> None:
        """Give every variable that is written its whole domain."""
        writes = (item for thread in self.code.threads for item in thread.items if isinstance(item, Write))
        for number in {number for write in writes for number in write.address.variables} - self.counters.keys():
            domain = self.code.program.variables[number].domain
            self.memory[number] = hull(self.memory[number], Interval(domain.lo, domain.hi))
        self._round()

    def _compute(self, thread: Thread, slots: list[Interval]) -> None:
        for item in thread.items:
            match item:
                case Define(slot, value):
                    slots[slot] = self._value(value, slots)
                case Join(slot, alternatives):
                    slots[slot] = _hull_of([self._value(value, slots) for _, value in alternatives])
                case Choose(slot, values):
                    slots[slot] = Interval(min(values), max(values))
                case Read(slot, address):
                    slots[slot] = _hull_of([ZERO, *(self._before[n] for n in address.variables)])
                case Write(address, value):
                    self._write(address, self._value(value, slots))
                case _:
                    pass

    def _write(self, address: Address, value: Interval) -> None:
        for number in address.variables:
            if number not in self.counters:
                self.memory[number] = hull(self.memory[number], value)

    def _value(self, expr: Expr, slots: Sequence[Interval]) -> Interval:
        found = value_of(expr, slots, _look)  # type: ignore[arg-type]
        return (None if found is None else meet(found, MACHINE)) or ZERO


def _look(_: RegisterOf) -> Interval:
    return EVERYTHING


def _hull_of(values: Sequence[Interval]) -> Interval:
    result = values[0]
    for value in values[1:]:
        result = hull(result, value)
    return result
