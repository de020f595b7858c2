"""The integer that stands in the explored program for memory that nobody has written.

One for the whole program, since such memory may be copied. It lies just beyond all that is ever stored where it may be,
so that it is no number of the program and makes states no larger than needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from memfence.frontends.c.machine.process import Process
from memfence.frontends.c.machine.value_sets import HIGHEST, LOWEST, UNLIKELY, UNWRITTEN, ValueSet, within_reach
from memfence.frontends.c.machine.world import World

NAME = "uninitialised"


def choose_unwritten(world: World, processes: Sequence[Process]) -> int:
    """The integer; where all others may be stored as well, the one whose store is cut off (`World.unmistakable`)."""
    values = [*world.values.values(), *(v for process in processes for v in process.register_values.values())]
    bounds = [b for v in values if UNWRITTEN in v.listed and (b := within_reach(v).bounds()) is not None]
    below, above = min((lo for lo, _ in bounds), default=0) - 1, max((hi for _, hi in bounds), default=0) + 1
    candidates = [value for value in (below, above) if LOWEST <= value <= HIGHEST]
    return min(candidates, key=lambda value: _bits(bounds, value), default=UNLIKELY)


def _bits(bounds: Sequence[tuple[int, int]], value: int) -> int:
    """How many bits it takes to hold the value beside all others."""
    return sum((max(hi, value) - min(lo, value)).bit_length() for lo, hi in bounds)


def may_be_unwritten(values: ValueSet) -> bool:
    return UNWRITTEN in values.listed
