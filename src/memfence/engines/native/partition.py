"""One part of a search that several machines share: the states whose hash says that they belong here.

Everything that goes in and out is a plain value, so that it can be sent; `core/cluster/partition.hpp` says what a round
is.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from memfence import _core
from memfence.engines.native.attacks import AttackPlan
from memfence.engines.native.encode import Encoded
from memfence.engines.native.explicit import Plan
from memfence.engines.native.found_attack import FoundAttack, found_attack
from memfence.engines.native.races import Race, RacePlan, race_of
from memfence.records import Record
from memfence.tasks.limits import Stop

NativeStep = tuple[int, int, int]
AnyPlan = Plan | RacePlan | AttackPlan
A_RACE = -1
NO_PARENT = 0xFFFFFFFF
"""The number of the parent of an initial state."""


class PartProgress(Record):
    """How far a part has come: of the states of `level` it has `size`, of which `left` are not expanded.

    `found_in`: the first level in which something was found, 0 if nothing was.
    """

    level: int
    size: int
    left: int
    states: int
    transitions: int
    refused: int
    bytes: int
    state_bits: int
    found_in: int
    stop: Stop


class PartFinding(Record):
    """What was found (a number of the core's) by `step` from the state `index`, whose packed form is `state`; or the
    `race` in that state."""

    kind: int
    state: bytes
    step: NativeStep | None
    index: int
    race: Race | None = None

    @property
    def rank(self) -> tuple[bytes, bool, int, int, int]:
        """Of all findings of a level the smallest counts, whichever part has it."""
        kind, process, number = self.step or (0, 0, 0)
        return self.state, self.step is not None, process, kind, number


class PartFinal(Record):
    """Values seen in final states; of those at the smallest `depth`, the smallest `state`, and its index."""

    values: tuple[int, ...]
    count: int
    depth: int
    state: bytes
    index: int


class PartAttack(Record):
    """An attack, and the packed form of the state where it starts, which is kept by this part."""

    state: bytes
    found: FoundAttack


class Saved(Record):
    """All but the states of a checkpoint, right after a turn to `level`, which has `size` states here."""

    level: int
    size: int
    states: int
    transitions: int
    refused: int
    arrivals: tuple[tuple[int, int], ...]
    finals: tuple[tuple[tuple[int, ...], int, int, int], ...]


class Kept:
    """What all kinds of parts have in common: rounds, and states that know their parents."""

    def __init__(self, native: _core.Partition | _core.CyclePart, number: int) -> None:
        self.number = number
        self._native_part = native

    def receive(self, messages: Sequence[bytes | None]) -> bool:
        """Take in what the others found in the last round; whether a new level begins now."""
        for sender, message in enumerate(messages):
            if message is not None:
                self._native_part.receive(sender, message)
        return self._native_part.turn()

    def expand(self) -> None:
        self._native_part.expand()

    def message_to(self, owner: int) -> bytes | None:
        return None if owner == self.number else self._native_part.message(owner)

    def state(self, index: int) -> bytes:
        return self._native_part.state(index)

    def ancestors(self, index: int) -> tuple[list[bytes], tuple[int, int] | None]:
        """The state `index`, its parent, and so on, as long as they are kept here; who has the next one, if any."""
        chain: list[bytes] = []
        owner = self.number
        while owner == self.number:
            chain.append(self._native_part.state(index))
            owner, index = self._native_part.parent(index)
            if index == NO_PARENT:
                return chain, None
        return chain, (owner, index)


class Partition(Kept):
    """Part `number` of `count` of the search that `plan` describes. About `round_states` are expanded in each round."""

    def __init__(self, plan: AnyPlan, number: int, count: int, round_states: int, memory_bytes: int) -> None:
        self.encoded = plan.encoded()
        self._native = plan.partition(self.encoded, (number, count, round_states, memory_bytes))
        super().__init__(self._native, number)

    @property
    def digest(self) -> str:
        """The same for two parts whose packed states mean the same."""
        return sha256(repr(meaning_of(self.encoded, self._native.progress.state_bits)).encode()).hexdigest()

    def begin(self) -> None:
        self._native.begin()

    @property
    def progress(self) -> PartProgress:
        now = self._native.progress
        return PartProgress(
            now.level, now.size, now.left, now.states, now.transitions, now.refused, now.bytes, now.state_bits,
            now.found_in, Stop(now.stop),
        )  # fmt: skip

    @property
    def finding(self) -> PartFinding | None:
        found = self._native.finding
        if self._native.race is not None:
            race = race_of(self._native.race)
            return PartFinding(A_RACE, self._native.state(race.state), None, race.state, race)
        if found is None:
            return None
        kind, index, step = found
        return PartFinding(kind, self._native.state(index), step, index)

    @property
    def attacks(self) -> list[PartAttack]:
        """All of them in the level `found_in` of the progress, if that is one."""
        return [
            PartAttack(self._native.state(native.state), found_attack(native, native.state))
            for native in self._native.attacks
        ]

    @property
    def finals(self) -> list[PartFinal]:
        seen = self._native.counted.finals
        return [PartFinal(tuple(v), count, depth, self._native.state(i), i) for v, count, depth, i in seen]

    def path(self, chain: Sequence[bytes], more: Sequence[NativeStep]) -> tuple[int, list[NativeStep], list[int]]:
        """The number of the initial state and the steps along `chain`, then `more`; who stands where in the end."""
        return self._native.path(list(chain), list(more))

    def rows(self, begin: int, end: int) -> bytes:
        """The states from number `begin` up to `end` with their parents, each in `row_size` bytes."""
        return self._native.rows(begin, end)

    @property
    def row_size(self) -> int:
        return self._native.row_size

    def save(self) -> Saved:
        counted = self._native.counted
        now = counted.progress
        finals = tuple((tuple(values), count, depth, index) for values, count, depth, index in counted.finals)
        return Saved(now.level, now.size, now.states, now.transitions, now.refused, tuple(counted.arrivals), finals)

    def restore(self, rows: bytes) -> None:
        """Take in `rows` of a checkpoint, in their order; `resume` comes after the last."""
        self._native.restore(rows)

    def resume(self, saved: Saved) -> None:
        self._native.resume(
            _core.Counted(
                saved.level, saved.size, saved.states, saved.transitions, saved.refused, list(saved.arrivals),
                list(saved.finals),
            )
        )  # fmt: skip


def meaning_of(encoded: Encoded, bits: int) -> object:
    """All that says what a packed state, and a step, means."""
    return bits, encoded.slots, encoded.edges, encoded.expressions
