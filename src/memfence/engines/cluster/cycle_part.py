"""What each machine of a cluster does in a search for an accepted infinite run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memfence.engines.cluster.rounds import Share
from memfence.engines.native.cycle_partition import CyclePartition, CycleProgress, Phase
from memfence.engines.native.emptiness import CyclePlan
from memfence.version import VERSION


class CyclePart:
    """An actor of Ray: one process, with one part of the states of the product."""

    def __init__(self, plan: CyclePlan, place: Share) -> None:
        self._count = place.count
        self._part = CyclePartition(plan, place.number, place.count, place.round_states, place.memory_bytes)

    def digest(self) -> tuple[str, str]:
        """What must be the same on all machines."""
        return VERSION, self._part.digest

    def start(self, phase: Phase) -> CycleProgress:
        self._part.start(phase)
        return self._part.progress

    def round(self, saves: bool, *messages: bytes | None) -> tuple[Any, ...]:
        """One round; how far this part is, and a message for every part. There are no checkpoints."""
        self._part.receive(messages)
        self._part.expand()
        return (self._part.progress, *(self._part.message_to(owner) for owner in range(self._count)))

    def first_alive(self) -> int | None:
        return self._part.first_alive

    def arcs_into(self, indices: Sequence[int]) -> list[list[tuple[int, int, int]]]:
        return [self._part.arcs_into(index) for index in indices]

    def states(self, indices: Sequence[int]) -> list[bytes]:
        return [self._part.state(index) for index in indices]

    def ancestors(self, indices: Sequence[int]) -> list[tuple[list[bytes], tuple[int, int] | None]]:
        return [self._part.ancestors(index) for index in indices]
