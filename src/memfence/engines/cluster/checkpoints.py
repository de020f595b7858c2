"""The search as it was at the beginning of some level, on this machine's disk: what is left if another one is lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from memfence.engines.native.partition import CHUNK_BYTES, Saved


class Checkpoints:
    """Rows of states, a file for each part, and what else is needed to go on. Only the last one counts.

    States never change once they are found, so that each checkpoint adds to the files what is new.
    """

    def __init__(self, parts: int) -> None:
        self._folder = TemporaryDirectory(prefix="memfence-")
        self._written = [0] * parts
        self.saved: list[Saved] | None = None

    def close(self) -> None:
        self._folder.cleanup()

    def add(self, saved: Sequence[Saved], rows: Sequence[Iterator[bytes]]) -> None:
        """Make this the last checkpoint: `rows` of each part, from where the one before ended."""
        written = list(self._written)
        for number, pieces in enumerate(rows):
            with self._path(number).open("ab") as file:
                file.truncate(written[number])  # what an attempt that failed has left
                for piece in pieces:
                    written[number] += file.write(piece)
        self._written = written
        self.saved = list(saved)

    def rows(self, number: int) -> Iterator[bytes]:
        """All rows of a part, in pieces of whole rows."""
        assert self.saved is not None
        left, states = self._written[number], self.saved[number].states
        if states == 0:
            return
        row = left // states
        with self._path(number).open("rb") as file:
            while left:
                piece = file.read(min(left, CHUNK_BYTES // row * row))
                left -= len(piece)
                yield piece

    def _path(self, number: int) -> Path:
        return Path(self._folder.name) / f"part-{number}"
