"""What each machine of a cluster does: a part of the search, in rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memfence.engines.cluster.rounds import Share
from memfence.engines.native.partition import (
    AnyPlan,
    PartAttack,
    PartFinal,
    PartFinding,
    Partition,
    PartProgress,
    Saved,
)
from memfence.records import Record
from memfence.version import VERSION


class Report(Record):
    """What a part says after a round. `sent`: bytes of all its messages so far. `saved`: what to keep for a checkpoint,
    beside the rows of its states."""

    progress: PartProgress
    finding: PartFinding | None
    sent: int
    saved: Saved | None = None


class Part:
    """An actor of Ray: one process, with one part of the states."""

    def __init__(self, plan: AnyPlan, place: Share) -> None:
        self._place = place
        self._part = Partition(plan, place.number, place.count, place.round_states, place.memory_bytes)
        self._sent = 0

    def digest(self) -> tuple[str, str]:
        """What must be the same on all machines."""
        return VERSION, self._part.digest

    def begin(self) -> None:
        self._part.begin()

    def restore(self, rows: bytes) -> None:
        self._part.restore(rows)

    def resume(self, saved: Saved) -> None:
        self._part.resume(saved)

    def round(self, saves: bool, *messages: bytes | None) -> tuple[Any, ...]:
        """One round; the report, and a message for every part. A checkpoint where a level begins, if it `saves`."""
        begins = self._part.receive(messages)
        saved = self._part.save() if saves and begins else None
        self._part.expand()
        progress = self._part.progress
        finding = self._part.finding if progress.found_in else None
        mail = [self._part.message_to(owner) for owner in range(self._place.count)]
        self._sent += sum(len(message) for message in mail if message is not None)
        return (Report(progress, finding, self._sent, saved), *mail)

    def rows(self, begin: int, end: int) -> bytes:
        """States with their parents: once found, they never change."""
        return self._part.rows(begin, end)

    def attacks(self) -> tuple[int, list[PartAttack]]:
        """The level in which they were found, 0 where the search went through all levels; and the attacks."""
        return self._part.progress.found_in, self._part.attacks

    def finals(self) -> list[PartFinal]:
        return self._part.finals

    def ancestors(self, indices: Sequence[int]) -> list[tuple[list[bytes], tuple[int, int] | None]]:
        return [self._part.ancestors(index) for index in indices]
