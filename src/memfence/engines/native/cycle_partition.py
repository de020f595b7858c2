"""One part of a search for an accepted infinite run that several machines share: `core/cluster/cycles.hpp`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from hashlib import sha256

from memfence import _core
from memfence.engines.native.emptiness import CyclePlan, NativeStep
from memfence.engines.native.partition import Kept, meaning_of
from memfence.records import Record
from memfence.tasks.limits import Stop


class Phase(IntEnum):
    """What is being done, in the order of the core's numbers."""

    REACH = 0
    TRIM = 1
    MARK = 2
    LINK = 3


class CycleProgress(Record):
    """How far a part has come. `alive`: states that may still follow a cycle with all marks."""

    level: int
    size: int
    left: int
    alive: int
    states: int
    transitions: int
    refused: int
    bytes: int
    state_bits: int
    stop: Stop


class CyclePartition(Kept):
    """Part `number` of `count` of the search that `plan` describes."""

    def __init__(self, plan: CyclePlan, number: int, count: int, round_states: int, memory_bytes: int) -> None:
        self.encoded = plan.encoded()
        self._part = _core.part_for_cycles(
            self.encoded.machine, *plan.query(self.encoded), number, count, round_states, memory_bytes
        )
        super().__init__(self._part, number)

    @property
    def digest(self) -> str:
        """The same for two parts whose packed states mean the same."""
        meaning = meaning_of(self.encoded, self._part.progress.state_bits)
        return sha256(repr(meaning).encode()).hexdigest()

    def start(self, phase: Phase) -> None:
        self._part.start(phase)

    @property
    def progress(self) -> CycleProgress:
        now = self._part.progress
        return CycleProgress(
            now.level, now.size, now.left, now.alive, now.states, now.transitions, now.refused, now.bytes,
            now.state_bits, Stop(now.stop),
        )  # fmt: skip

    @property
    def first_alive(self) -> int | None:
        """The number of a state that is left."""
        return self._part.first_alive

    def arcs_into(self, index: int) -> list[tuple[int, int, int]]:
        """Owner and number of each predecessor that is left, and the marks of the arc."""
        return self._part.arcs_into(index)

    def steps(self, chain: Sequence[bytes], marks: Sequence[int]) -> list[NativeStep]:
        """The steps along `chain`, each by an arc with at least these marks."""
        pairs = zip(chain, chain[1:], marks, strict=False)
        return [self._part.step_between(before, after, wanted) for before, after, wanted in pairs]

    def start_of(self, state: bytes) -> int:
        """The number of an initial state."""
        return self._part.start_of(state)
