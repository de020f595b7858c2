"""Is there an SC run in which each process makes these accesses, with these values?

Verifying sequential consistency (Gibbons and Korach 1997) is NP-complete; the runs asked about are short. The search is
over interleavings, with a memory of where it has been, and takes reads that match memory at once: they change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memfence.models.steps import set_at

Made = tuple[Literal["read", "write"], int, int]
"""What was done to which variable, and the value."""
Event = tuple[Made, ...]
"""The accesses of one step, in order: nobody comes between them."""
Orders = tuple[tuple[int, ...], ...]
"""For each variable, whose stores came first, second, ..."""

Memory = tuple[int | None, ...]
"""None: the initial value, which may be any of several, and nobody has read it."""


def is_made_under_sc(runs: Sequence[Sequence[Event]], initial: Sequence[Sequence[int]], orders: Orders | None) -> bool:
    """Whether the `runs` of all processes are those of one SC run; with `orders`, of one that stores in these.

    `initial`: the values that each variable may have at the start.
    """
    memory: Memory = tuple(values[0] if len(values) == 1 else None for values in initial)
    search = _Search(runs, tuple(map(frozenset, initial)), orders)
    return search.ends_from(tuple(0 for _ in runs), memory, tuple(0 for _ in initial))


class _Search:
    def __init__(
        self, runs: Sequence[Sequence[Event]], initial: tuple[frozenset[int], ...], orders: Orders | None
    ) -> None:
        self._runs = runs
        self._initial = initial
        self._orders = orders

    def ends_from(self, done: tuple[int, ...], memory: Memory, stored: tuple[int, ...]) -> bool:
        """Depth first. `stored`: how many stores of each variable there were; it follows from what is `done`."""
        seen = {(done, memory)}
        open_ = [(done, memory, stored)]
        while open_:
            done, memory, stored = open_.pop()
            if all(count == len(run) for count, run in zip(done, self._runs, strict=True)):
                return True
            for after in self._next(done, memory, stored):
                if after[:2] not in seen:
                    seen.add(after[:2])
                    open_.append(after)
        return False

    def _next(
        self, done: tuple[int, ...], memory: Memory, stored: tuple[int, ...]
    ) -> list[tuple[tuple[int, ...], Memory, tuple[int, ...]]]:
        found = []
        for process, run in enumerate(self._runs):
            if done[process] == len(run):
                continue
            after = self._made(process, run[done[process]], memory, stored)
            if after is None:
                continue
            moved = set_at(done, process, done[process] + 1)
            if after == (memory, stored):
                return [(moved, *after)]
            found.append((moved, *after))
        return found

    def _made(
        self, process: int, event: Event, memory: Memory, stored: tuple[int, ...]
    ) -> tuple[Memory, tuple[int, ...]] | None:
        """Memory after the event; None where it cannot be made now."""
        for kind, variable, value in event:
            if kind == "write":
                count = stored[variable]
                if self._orders is not None and self._orders[variable][count] != process:
                    return None
                stored = set_at(stored, variable, count + 1)
            elif not self._is_there(memory[variable], variable, value):
                return None
            if memory[variable] != value:
                memory = set_at(memory, variable, value)
        return memory, stored

    def _is_there(self, held: int | None, variable: int, value: int) -> bool:
        return value in self._initial[variable] if held is None else held == value
