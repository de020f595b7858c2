"""The search as it was at the beginning of some level, on this machine's disk: what is left if another one is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from memfence.engines.native.partition import Saved

PIECE_BYTES = 32 << 20
"""Rows go from machine to machine in pieces of about that size."""
Fetch = Callable[[int, int, int], bytes]
"""The rows of a part (by its number) from one state up to another."""


class Checkpoints:
    """Rows of states, a file for each part, and what else is needed to go on. Only the last one counts.

    States never change once they are found, so that each checkpoint adds to the files what is new.
    """

    def __init__(self, parts: int, row_size: int) -> None:
        self._folder = TemporaryDirectory(prefix="memfence-")
        self._row_size = row_size
        self._rows = [0] * parts
        self._piece = max(1, PIECE_BYTES // row_size)
        self.saved: list[Saved] | None = None

    def close(self) -> None:
        self._folder.cleanup()

    def add(self, saved: Sequence[Saved], fetch: Fetch) -> None:
        """Make this the last checkpoint; fetches the rows that are new since the one before."""
        for number, part in enumerate(saved):
            with self._path(number).open("ab") as file:
                file.truncate(self._rows[number] * self._row_size)  # what an attempt that failed has left
                for begin in range(self._rows[number], part.states, self._piece):
                    file.write(fetch(number, begin, min(part.states, begin + self._piece)))
        self._rows = [part.states for part in saved]
        self.saved = list(saved)

    def rows(self, number: int) -> Iterator[bytes]:
        """All rows of a part, in pieces of whole rows."""
        with self._path(number).open("rb") as file:
            for begin in range(0, self._rows[number], self._piece):
                yield file.read(min(self._piece, self._rows[number] - begin) * self._row_size)

    def _path(self, number: int) -> Path:
        return Path(self._folder.name) / f"part-{number}"
