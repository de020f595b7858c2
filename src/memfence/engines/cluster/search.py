"""An explicit search that the machines of a cluster share.

What is decided here, by the reports of all parts about the same round, is when it ends. Where a machine is lost, it
goes on from the last checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memfence.deadline import Deadline
from memfence.engines.cluster.checkpoints import Checkpoints
from memfence.engines.cluster.found_attacks import merged_attacks
from memfence.engines.cluster.part import Part, Report
from memfence.engines.cluster.rounds import Chain, Settings, SharedWork
from memfence.engines.native.attacks import AttackPlan
from memfence.engines.native.found_attack import FoundAttack
from memfence.engines.native.partition import AnyPlan, PartFinal, PartFinding, Partition
from memfence.records import Record
from memfence.tasks.limits import Cost, Limits, Stop


class Shared(Record):
    """The outcome of a search: why it ended, what was found and how to get there, attacks, all final states."""

    stop: Stop
    cost: Cost
    refused: int = 0
    finding: tuple[PartFinding, Chain] | None = None
    finals: tuple[tuple[PartFinal, Chain], ...] = ()
    attacks: tuple[tuple[FoundAttack, Chain], ...] = ()
    lost: int = 0
    rounds: int = 0
    sent: int = 0

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """Numbers that only a cluster has: machines lost, rounds, bytes of messages."""
        return ("lost", self.lost), ("rounds", self.rounds), ("sent", self.sent)


class SharedSearch(SharedWork[Shared]):
    """One search. `here` is a part of this machine's own, that keeps no states."""

    def __init__(self, ray: Any, plan: AnyPlan, here: Partition, limits: Limits, settings: Settings) -> None:
        super().__init__(ray, Part, plan, here.digest, limits, settings)
        self._checkpoints = Checkpoints(self._parts.count, here.row_size)
        self._next_save = Deadline(settings.checkpoint_seconds)
        self._attacks = plan if isinstance(plan, AttackPlan) else None
        self._reports: list[Report] = []
        self._round = 0

    def _end(self) -> None:
        super()._end()
        self._checkpoints.close()

    def _without_answer(self, stop: Stop, lost: int) -> Shared:
        return Shared(stop, self._cost(), lost=lost)

    def _attempt(self, lost: int) -> Shared:
        self._begin()
        for reports in self._rounds(self._is_time_to_save):
            self._reports = reports
            self._round += 1
            self._keep(reports)
            self._note([report.progress for report in reports])
            stop = _reason(reports, self._limits.most_states)
            if stop is not None:
                return self._outcome(stop, lost)
        raise AssertionError("rounds have no end of their own")

    def _begin(self) -> None:
        """Every part as it was at the last checkpoint, or with the initial states."""
        saved = self._checkpoints.saved
        if saved is None:
            self._ask("begin")
            return
        for number, part in enumerate(self._parts):
            for rows in self._checkpoints.rows(number):
                self._get([part.restore.remote(rows)])
            self._get([part.resume.remote(saved[number])])

    def _is_time_to_save(self) -> bool:
        return self._next_save.passed and not self._collects_attacks  # checkpoints have none

    def _keep(self, reports: Sequence[Report]) -> None:
        """Write down the checkpoint that the reports come with, if they do."""
        saved = [report.saved for report in reports if report.saved is not None]
        if len(saved) == len(reports):
            self._checkpoints.add(saved, self._fetch)
            self._next_save = Deadline(self._settings.checkpoint_seconds)

    def _fetch(self, number: int, begin: int, end: int) -> bytes:
        (rows,) = self._get([self._parts[number].rows.remote(begin, end)])
        return bytes(rows)

    @property
    def _collects_attacks(self) -> bool:
        return self._attacks is not None and self._attacks.every_torn

    def _found_attacks(self) -> list[tuple[int, FoundAttack]]:
        if self._attacks is None:
            return []
        return merged_attacks(self._ask("attacks"), all_levels=self._collects_attacks)

    def _outcome(self, stop: Stop, lost: int) -> Shared:
        """What was found, with the states on the way there: the parts are asked once more."""
        cost = self._cost()
        refused = sum(report.progress.refused for report in self._reports)
        finals = _merged(self._ask("finals"))
        found = _smallest(self._reports) if stop is Stop.FOUND else None
        ends = [(owner, final.index) for owner, final in finals]
        if found is not None:
            ends.append((found[0], found[1].index))
        attacks = self._found_attacks()
        ends += [(owner, attack.state) for owner, attack in attacks]
        chains = iter(self._chains(ends))
        seen = tuple((final, next(chains)) for _, final in finals)
        finding = None if found is None else (found[1], next(chains))
        attacked = tuple((attack, next(chains)) for _, attack in attacks)
        sent = sum(report.sent for report in self._reports)
        return Shared(stop, cost, refused, finding, seen, attacked, lost, self._round, sent)


def _reason(reports: Sequence[Report], most_states: int) -> Stop | None:
    """Why to end after this round, by the reports of all parts about it; None: go on."""
    progresses = [report.progress for report in reports]
    stops = {now.stop for now in progresses} - {Stop.NOTHING_LEFT}
    found = [now.found_in for now in progresses if now.found_in]
    is_level_done = not any(now.left for now in progresses)
    if Stop.FOUND in stops or (found and (is_level_done or progresses[0].level > min(found))):
        return Stop.FOUND
    if stops:
        return min(stops, key=lambda stop: stop.value)
    if not any(now.size for now in progresses):
        return Stop.NOTHING_LEFT
    if most_states and is_level_done and sum(now.states for now in progresses) >= most_states:
        return Stop.STATES
    return None


def _smallest(reports: Sequence[Report]) -> tuple[int, PartFinding] | None:
    """Of the findings of the first level with one, the smallest, and who has it. Initial states come before all."""
    found = [
        ((report.progress.stop is not Stop.FOUND, report.progress.found_in), owner, report.finding)
        for owner, report in enumerate(reports)
        if report.finding is not None
    ]
    first = min((level for level, _, _ in found), default=None)
    candidates = [(owner, finding) for level, owner, finding in found if level == first]
    return min(candidates, key=lambda one: one[1].rank, default=None)


def _merged(finals: Sequence[Sequence[PartFinal]]) -> list[tuple[int, PartFinal]]:
    """For each combination of values, the first of all its final states, with how many there are in all parts."""
    best: dict[tuple[int, ...], tuple[int, PartFinal]] = {}
    counts: dict[tuple[int, ...], int] = {}
    for owner, part in enumerate(finals):
        for final in part:
            counts[final.values] = counts.get(final.values, 0) + final.count
            known = best.get(final.values)
            if known is None or (final.depth, final.state) < (known[1].depth, known[1].state):
                best[final.values] = owner, final
    return [
        (owner, PartFinal(values, counts[values], final.depth, final.state, final.index))
        for values, (owner, final) in sorted(best.items())
    ]
