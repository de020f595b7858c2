"""A search that the machines of a cluster share, as seen from the machine that asked for it.

Rounds are handed out a few ahead, so that nobody waits for this machine: messages go from part to part, and each part
knows by itself when a level ends. What is decided here, by the reports of all parts about the same round, is when the
search ends. A part that is lost takes the whole search back to the last checkpoint: nothing of a lost machine is used,
so a verdict is always about a search that nothing is missing from.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from memfence.cluster.placing import Parts, lost_errors
from memfence.engines.cluster.checkpoints import Checkpoints
from memfence.engines.cluster.part import Part, Place, Report
from memfence.engines.native.explicit import Plan
from memfence.engines.native.partition import PartFinal, PartFinding, Partition
from memfence.records import Record
from memfence.tasks.limits import Cost, Limits, Stop

POLL_SECONDS = 0.2
"""How long Ctrl-C and the time limit may wait."""
Chain = tuple[bytes, ...]
"""Packed states from an initial one on, each a successor of the one before it."""


class Settings(Record, kw_only=True):
    """How a search is shared: only tests and measurements have reasons to change anything here."""

    round_states: int = 200_000
    rounds_ahead: int = 2
    checkpoint_seconds: float = 60.0
    most_lost: int = 3


class Shared(Record):
    """The outcome of a search: why it ended, what was found and how to get there, all final states."""

    stop: Stop
    cost: Cost
    refused: int = 0
    finding: tuple[PartFinding, Chain] | None = None
    finals: tuple[tuple[PartFinal, Chain], ...] = ()
    lost: int = 0


class _Stopped(Exception):
    def __init__(self, stop: Stop) -> None:
        self.stop = stop


class SharedSearch:
    """One search; `run` does it."""

    def __init__(self, ray: Any, plan: Plan, here: Partition, limits: Limits, settings: Settings) -> None:
        self._ray = ray
        self._parts = Parts(ray, Part, here.digest)
        self._plan = plan
        self._limits = limits
        self._settings = settings
        self._start = time.monotonic()
        self._seconds = limits.seconds
        self._checkpoints = Checkpoints(self._parts.count, here.row_size)
        self._saved_at = self._start
        self._reports: list[Report] = []

    def run(self) -> Shared:
        """The outcome; where machines are lost more often than `most_lost` times, that is all there is to say."""
        lost = 0
        try:
            while lost <= self._settings.most_lost:
                try:
                    self._begin()
                    return self._outcome(self._rounds(), lost)
                except lost_errors(self._ray) as error:
                    self._parts.raise_if_ours(error)
                    lost += 1
            return Shared(Stop.LOST, self._cost(), lost=lost)
        except _Stopped as stopped:
            return Shared(stopped.stop, self._cost(), lost=lost)
        except KeyboardInterrupt:
            return Shared(Stop.CANCELLED, self._cost(), lost=lost)
        finally:
            self._parts.end()
            self._checkpoints.close()

    def _begin(self) -> None:
        """Every part as it was at the last checkpoint, or with the initial states."""
        plan = self._ray.put(self._plan)
        memory, round_states = self._limits.memory_megabytes, self._settings.round_states
        count = self._parts.count
        self._parts.begin(
            lambda number, neighbours: (plan, Place(number, count, neighbours, memory, round_states)), self._get
        )
        saved = self._checkpoints.saved
        if saved is None:
            self._get([part.begin.remote() for part in self._parts])
            return
        for number, part in enumerate(self._parts):
            for rows in self._checkpoints.rows(number):
                self._get([part.restore.remote(rows)])
            self._get([part.resume.remote(saved[number])])

    def _rounds(self) -> Stop:
        """Why the search ends, with the reports of the round that shows it."""
        count = self._parts.count
        mail: list[list[Any]] = [[None] * count for _ in range(count)]
        waiting: deque[list[Any]] = deque()
        while True:
            while len(waiting) <= self._settings.rounds_ahead:
                saves = time.monotonic() - self._saved_at >= self._settings.checkpoint_seconds
                answers = [
                    part.round.options(num_returns=count + 1).remote(saves, *mail[number])
                    for number, part in enumerate(self._parts)
                ]
                mail = [[answer[1 + receiver] for answer in answers] for receiver in range(count)]
                waiting.append([answer[0] for answer in answers])
            self._reports = self._get(waiting.popleft())
            self._keep(self._reports)
            self._tell(self._reports)
            stop = _reason(self._reports, self._limits.most_states)
            if stop is not None:
                return stop

    def _keep(self, reports: Sequence[Report]) -> None:
        """Write down the checkpoint that the reports come with, if they do."""
        saved = [report.saved for report in reports if report.saved is not None]
        if len(saved) == len(reports):
            self._checkpoints.add(saved, self._fetch)
            self._saved_at = time.monotonic()

    def _fetch(self, number: int, begin: int, end: int) -> bytes:
        (rows,) = self._get([self._parts[number].rows.remote(begin, end)])
        return bytes(rows)

    def _get(self, references: list[Any]) -> list[Any]:
        """The values, as soon as they are there; meanwhile the limits count."""
        while True:
            try:
                return list(self._ray.get(references, timeout=POLL_SECONDS))
            except self._ray.exceptions.GetTimeoutError:
                self._watch()

    def _watch(self) -> None:
        cancel = self._limits.cancel
        if cancel is not None and cancel.is_cancelled:
            raise _Stopped(Stop.CANCELLED)
        if self._seconds is not None and time.monotonic() - self._start > self._seconds:
            raise _Stopped(Stop.TIMEOUT)

    def _tell(self, reports: Sequence[Report]) -> None:
        """Progress: of each machine by its name, then of all together."""
        self._watch()
        progress = self._limits.progress
        if progress is None:
            return
        states: dict[str, int] = {}
        for node, report in zip(self._parts.nodes, reports, strict=True):
            states[node.name] = states.get(node.name, 0) + report.standing.states
        self._limits.announce("cluster, " + ", ".join(f"{name} {count:,}" for name, count in states.items()))
        cost = self._cost()
        queue = sum(report.standing.left for report in reports)
        megabytes = sum(report.standing.bytes for report in reports) / 1e6
        if progress(cost.states, cost.transitions, queue, cost.seconds, megabytes) is False:
            raise _Stopped(Stop.CANCELLED)

    def _cost(self) -> Cost:
        standings = [report.standing for report in self._reports]
        levels = (now.level if any(one.size for one in standings) else now.level - 1 for now in standings)
        return Cost(
            sum(now.states for now in standings),
            sum(now.transitions for now in standings),
            time.monotonic() - self._start,
            max((now.state_bits for now in standings), default=0),
            max(levels, default=0),
        )

    def _outcome(self, stop: Stop, lost: int) -> Shared:
        """What was found, with the states on the way there: the parts are asked once more."""
        cost = self._cost()
        refused = sum(report.standing.refused for report in self._reports)
        finals = _merged(self._get([part.finals.remote() for part in self._parts]))
        found = _smallest(self._reports) if stop is Stop.FOUND else None
        ends = [(owner, final.index) for owner, final in finals]
        if found is not None:
            ends.append((found[0], found[1].index))
        chains = self._chains(ends)
        finding = None if found is None else (found[1], chains.pop())
        seen = tuple((final, chain) for (_, final), chain in zip(finals, chains, strict=True))
        return Shared(stop, cost, refused, finding, seen, lost)

    def _chains(self, ends: Sequence[tuple[int, int]]) -> list[Chain]:
        """For each state, the states on the way there, by the parents that different machines know."""
        backwards: list[list[bytes]] = [[] for _ in ends]
        places: dict[int, tuple[int, int]] = dict(enumerate(ends))
        while places:
            asked: dict[int, list[int]] = {}
            for number, (owner, _) in places.items():
                asked.setdefault(owner, []).append(number)
            answers = self._get(
                [
                    self._parts[owner].ancestors.remote([places[n][1] for n in numbers])
                    for owner, numbers in asked.items()
                ]
            )
            places = {}
            for numbers, answer in zip(asked.values(), answers, strict=True):
                for number, (chain, beyond) in zip(numbers, answer, strict=True):
                    backwards[number] += chain
                    if beyond is not None:
                        places[number] = beyond
        return [tuple(reversed(chain)) for chain in backwards]


def _reason(reports: Sequence[Report], most_states: int) -> Stop | None:
    """Why to end after this round, by the reports of all parts about it; None: go on."""
    standings = [report.standing for report in reports]
    stops = {now.stop for now in standings} - {Stop.NOTHING_LEFT}
    found = [now.found_in for now in standings if now.found_in]
    is_level_done = not any(now.left for now in standings)
    if Stop.FOUND in stops or (found and (is_level_done or standings[0].level > min(found))):
        return Stop.FOUND
    if stops:
        return min(stops, key=lambda stop: stop.value)
    if not any(now.size for now in standings):
        return Stop.NOTHING_LEFT
    if most_states and is_level_done and sum(now.states for now in standings) >= most_states:
        return Stop.STATES
    return None


def _smallest(reports: Sequence[Report]) -> tuple[int, PartFinding] | None:
    """Of the findings of the first level with one, the smallest, and who has it. Initial states come before all."""
    found = [
        ((report.standing.stop is not Stop.FOUND, report.standing.found_in), owner, report.finding)
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
