"""Sets of byte ranges that are asked which of them touch a range."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Range = tuple[int, int]
"""An address and a number of bytes."""
LINE_BITS = 6
"""Ranges are found by the lines of 64 bytes that they touch: most values are smaller than that."""


class Ranges:
    """A set of ranges that only grows."""

    __slots__ = ("_all", "_at_line")

    def __init__(self, ranges: Iterable[Range] = ()) -> None:
        self._all: set[Range] = set()
        self._at_line: dict[int, list[Range]] = {}
        self.update(ranges)

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Range]:
        return iter(self._all)

    def __contains__(self, one: object) -> bool:
        return one in self._all

    def add(self, one: Range) -> None:
        if one in self._all:
            return
        self._all.add(one)
        start, size = one
        for line in range(start >> LINE_BITS, (start + max(size, 1) - 1 >> LINE_BITS) + 1):
            self._at_line.setdefault(line, []).append(one)

    def update(self, ranges: Iterable[Range]) -> None:
        for one in ranges:
            self.add(one)

    def touching(self, lo: int, hi: int) -> set[Range]:
        """Those that have a byte of `lo` to `hi`, which is not part of it."""
        at_line = self._at_line
        lines = range(lo >> LINE_BITS, (hi - 1 >> LINE_BITS) + 1)
        return {(a, n) for line in lines if line in at_line for a, n in at_line[line] if a < hi and a + n > lo}
