"""Rounds that the machines of a cluster do together, as seen from the machine that asked for them.

Rounds are handed out a few ahead, so that nobody waits for this machine: messages go from part to part, and each part
knows by itself when a level ends. A part that is lost ends an attempt, and everything begins again: nothing of a lost
machine is used, so a verdict is always about a search that nothing is missing from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from memfence.cluster.placing import Parts, lost_errors
from memfence.deadline import Deadline
from memfence.records import Record
from memfence.tasks.limits import Cost, Limits, Stop

POLL_SECONDS = 0.2
"""How long Ctrl-C and the time limit may wait."""
Chain = tuple[bytes, ...]
"""Packed states from an initial one on, each a successor of the one before it."""
End = tuple[int, int]
"""A state: who has it, and its number there."""
ResultT = TypeVar("ResultT")


class Settings(Record, kw_only=True):
    """How a search is shared: only tests and measurements have reasons to change anything here."""

    round_states: int = 200_000
    rounds_ahead: int = 2
    checkpoint_seconds: float = 60.0
    most_lost: int = 3
    nearby_states: int = 1_000_000
    """A lasso is looked for among so many states on this machine first; an attack in small searches. 0: neither is."""


class Share(Record):
    """Which part of how many, how many of them share its machine, and what they may use of it."""

    number: int
    count: int
    neighbours: int
    memory_megabytes: int | None
    round_states: int

    @property
    def memory_bytes(self) -> int:
        """To be asked on the machine itself: without a limit of the user's, it depends on what is there."""
        return Limits(memory_megabytes=self.memory_megabytes).memory_bytes // self.neighbours


class Progress(Protocol):
    """How far a part has come: what all kinds of parts tell."""

    @property
    def level(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def left(self) -> int: ...
    @property
    def states(self) -> int: ...
    @property
    def transitions(self) -> int: ...
    @property
    def refused(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def state_bits(self) -> int: ...


class Stopped(Exception):
    """A limit was hit."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop


class SharedWork(ABC, Generic[ResultT]):
    """Something that all parts do together; `run` does it, again where a machine is lost."""

    def __init__(self, ray: Any, kind: type, plan: object, digest: str, limits: Limits, settings: Settings) -> None:
        self._ray = ray
        self._parts = Parts(ray, kind, digest)
        self._plan = plan
        self._limits = limits
        self._settings = settings
        self._time = Deadline(limits.seconds)
        self._progresses: Sequence[Progress] = ()

    @abstractmethod
    def _attempt(self, lost: int) -> ResultT:
        """All of it, with parts that have just been made."""

    @abstractmethod
    def _without_answer(self, stop: Stop, lost: int) -> ResultT:
        """What to say where a limit was hit."""

    def _end(self) -> None:
        self._parts.end()

    def run(self) -> ResultT:
        """The outcome; where machines are lost more often than `most_lost` times, that is all there is to say."""
        lost = 0
        try:
            while lost <= self._settings.most_lost:
                try:
                    self._make_parts()
                    return self._attempt(lost)
                except lost_errors(self._ray) as error:
                    self._parts.raise_if_ours(error)
                    lost += 1
            return self._without_answer(Stop.LOST, lost)
        except Stopped as stopped:
            return self._without_answer(stopped.stop, lost)
        except KeyboardInterrupt:
            return self._without_answer(Stop.CANCELLED, lost)
        finally:
            self._end()

    def _make_parts(self) -> None:
        plan = self._ray.put(self._plan)
        memory, round_states, count = self._limits.memory_megabytes, self._settings.round_states, self._parts.count
        self._parts.begin(
            lambda number, neighbours: (plan, Share(number, count, neighbours, memory, round_states)), self._get
        )

    def _rounds(self, saves: Callable[[], bool] = lambda: False) -> Iterator[list[Any]]:
        """The reports of all parts about one round after the other, without end."""
        count = self._parts.count
        mail: list[list[Any]] = [[None] * count for _ in range(count)]
        waiting: deque[list[Any]] = deque()
        while True:
            while len(waiting) <= self._settings.rounds_ahead:
                saving = saves()
                answers = [
                    part.round.options(num_returns=count + 1).remote(saving, *mail[number])
                    for number, part in enumerate(self._parts)
                ]
                mail = [[answer[1 + receiver] for answer in answers] for receiver in range(count)]
                waiting.append([answer[0] for answer in answers])
            yield self._get(waiting.popleft())

    def _ask(self, method: str, *arguments: Any) -> list[Any]:
        """What every part answers."""
        return self._get([getattr(part, method).remote(*arguments) for part in self._parts])

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
            raise Stopped(Stop.CANCELLED)
        if self._time.passed:
            raise Stopped(Stop.TIMEOUT)

    def _note(self, progresses: Sequence[Progress]) -> None:
        """How far the parts are; tells whoever watches, of each machine by its name, then of all together."""
        self._progresses = progresses
        self._watch()
        tell = self._limits.progress
        if tell is None:
            return
        states: dict[str, int] = {}
        for node, now in zip(self._parts.nodes, progresses, strict=True):
            states[node.name] = states.get(node.name, 0) + now.states
        self._limits.announce("cluster, " + ", ".join(f"{name} {count:,}" for name, count in states.items()))
        cost = self._cost()
        queue = sum(now.left for now in progresses)
        megabytes = sum(now.bytes for now in progresses) / 1e6
        if tell(cost.states, cost.transitions, queue, cost.seconds, megabytes) is False:
            raise Stopped(Stop.CANCELLED)

    def _cost(self) -> Cost:
        now = self._progresses
        levels = (one.level if any(other.size for other in now) else one.level - 1 for one in now)
        return Cost(
            sum(one.states for one in now),
            sum(one.transitions for one in now),
            self._time.elapsed,
            max((one.state_bits for one in now), default=0),
            max(levels, default=0),
        )

    def _chains(self, ends: Sequence[End]) -> list[Chain]:
        """For each state, the states on the way there, by the parents that different machines know."""
        backwards: list[list[bytes]] = [[] for _ in ends]
        places: dict[int, End] = dict(enumerate(ends))
        while places:
            numbers = list(places)
            answers = self._of_owners("ancestors", [places[number] for number in numbers])
            places = {}
            for number, (chain, beyond) in zip(numbers, answers, strict=True):
                backwards[number] += chain
                if beyond is not None:
                    places[number] = beyond
        return [tuple(reversed(chain)) for chain in backwards]

    def _of_owners(self, method: str, states: Sequence[End]) -> list[Any]:
        """What those who have the states say about each; every part is asked at most once."""
        asked: dict[int, list[int]] = {}
        for position, (owner, _) in enumerate(states):
            asked.setdefault(owner, []).append(position)
        calls = [
            getattr(self._parts[owner], method).remote([states[position][1] for position in positions])
            for owner, positions in asked.items()
        ]
        answers: list[Any] = [None] * len(states)
        for positions, answer in zip(asked.values(), self._get(calls), strict=True):
            for position, one in zip(positions, answer, strict=True):
                answers[position] = one
        return answers
