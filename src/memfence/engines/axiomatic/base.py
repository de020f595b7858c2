"""The sets and relations that an execution comes with, as literals: what a model's own definitions start from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from memfence.axiomatic.code import Barrier, EventItem, Write
from memfence.axiomatic.model import AxiomaticModel
from memfence.engines.axiomatic.clauses import FALSE, TRUE, Clauses
from memfence.engines.axiomatic.core import Core
from memfence.engines.axiomatic.events import INITIAL, Event
from memfence.engines.axiomatic.memory import Pairs

Members = dict[int, int]
"""A set: events by number, and where each is a member."""

Rows = list[dict[int, int]]
"""A relation: for each event those that it is related to, and where."""

TagLiterals = Callable[[int, int, EventItem], Mapping[str, int]]
"""Thread, position and item to tags, and where each is one. `F`: where a barrier is there at all."""


class Base:
    """`here`: where each event happens for the model; all other events are those of the shared core.

    `tags`: instead of the model's own. A barrier whose tags are literals is there where one of them is true, unless `F`
    says it.
    """

    def __init__(
        self, core: Core, model: AxiomaticModel, *, tags: TagLiterals | None = None, dependencies: bool = True
    ) -> None:
        self.core = core
        self.model = model
        self.clauses: Clauses = core.clauses
        self.events: list[Event] = core.events.list
        self.dependencies = dependencies
        self._tags = [self._tags_of(event, tags) for event in self.events]
        self.here = [
            self.clauses.both(event.happens, tags_of.get("F", TRUE))
            for event, tags_of in zip(self.events, self._tags, strict=True)
        ]
        self._tops: dict[tuple[int, int], int] = {}
        self._relations: dict[str, Rows] = {}

    @property
    def size(self) -> int:
        return len(self.events)

    def _tags_of(self, event: Event, tags: TagLiterals | None) -> Mapping[str, int]:
        if event.item is None:
            return {}
        if tags is None:
            thread = self.core.code.threads[event.thread]
            return dict.fromkeys(self.model.tags(thread, event.item), TRUE)
        found = dict(tags(event.thread, event.position, event.item))
        if isinstance(event.item, Barrier) and any(literal != TRUE for literal in found.values()):
            found.setdefault("F", self.clauses.any_of(found.values()))
        return found

    def together(self, a: int, b: int) -> int:
        """Where both events happen: no relation has the pair elsewhere."""
        first, second = self.here[a], self.here[b]
        if first in (TRUE, second):
            return second
        if second == TRUE:
            return first
        key = (first, second)
        known = self._tops.get(key)
        if known is None:
            known = self._tops[key] = self.clauses.both(first, second)
        return known

    def members(self, name: str) -> Members:
        """The set with this name; empty where there is none."""
        found = {event.number: self._membership(event, name) for event in self.events}
        return {number: literal for number, literal in found.items() if literal != FALSE}

    def _membership(self, event: Event, name: str) -> int:
        match name:
            case "_":
                is_in = TRUE
            case "R":
                is_in = TRUE if event.is_read else FALSE
            case "W":
                is_in = TRUE if event.is_write else FALSE
            case "M":
                is_in = TRUE if event.is_read or event.is_write else FALSE
            case "IW":
                is_in = TRUE if event.thread == INITIAL else FALSE
            case "F":
                is_in = TRUE if isinstance(event.item, Barrier) else FALSE
            case _:
                is_in = self._tags[event.number].get(name, FALSE)
        return self.clauses.both(self.here[event.number], is_in)

    def relation(self, name: str) -> Rows:
        """The relation with this name; empty where there is none."""
        known = self._relations.get(name)
        if known is None:
            known = self._relations[name] = self._relation(name)
        return known

    def _relation(self, name: str) -> Rows:
        match name:
            case "id":
                return self._rows((n, n, here) for n, here in enumerate(self.here))
            case "po":
                return self._static(lambda a, b: a.thread == b.thread != INITIAL and a.position < b.position)
            case "int":
                return self._static(lambda a, b: a.thread == b.thread and (a.thread != INITIAL or a is b))
            case "ext":
                return self._static(lambda a, b: a.thread != b.thread or (a.thread == INITIAL and a is not b))
            case "together":
                return self._static(_is_one_step)
            case "step":
                return self._locked_steps()
            case "rf":
                return self._of_pairs(self.core.memory.read_from)
            case "co":
                return self._coherence()
            case "loc":
                return self._same_place()
            case "rmw" | "amo" | "lxsx":
                return self._read_modify_write(name)
            case "addr" | "data" | "ctrl":
                return self._dependency(name)
            case _:
                return [{} for _ in self.events]

    def _rows(self, triples: Iterable[tuple[int, int, int]]) -> Rows:
        rows: Rows = [{} for _ in self.events]
        for a, b, literal in triples:
            if literal != FALSE:
                rows[a][b] = literal
        return rows

    def _of_pairs(self, pairs: Pairs) -> Rows:
        return self._rows((a, b, literal) for (a, b), literal in pairs.items())

    def _static(self, holds: Callable[[Event, Event], bool]) -> Rows:
        pairs = ((a, b) for a in self.events for b in self.events if holds(a, b))
        return self._rows((a.number, b.number, self.together(a.number, b.number)) for a, b in pairs)

    def _locked_steps(self) -> Rows:
        locked = self.members("LOCKED")
        rows = self._relation("id")
        for a in locked:
            for b in locked:
                if a != b and _is_one_step(self.events[a], self.events[b]):
                    rows[a][b] = self.clauses.both(locked[a], locked[b])
        return rows

    def _coherence(self) -> Rows:
        memory = self.core.memory
        return self._rows((a, b, memory.coherence(self.events[a], self.events[b])) for a, b in memory.order)

    def _same_place(self) -> Rows:
        accesses = [event for event in self.events if event.at]
        triples = (
            (a.number, b.number, self.core.memory.same_place(a, b))
            for a in accesses
            for b in accesses
            if not a.at.keys().isdisjoint(b.at)
        )
        return self._rows(triples)

    def _read_modify_write(self, name: str) -> Rows:
        """`rmw` is `amo` or `lxsx`, as the instruction and the model have it."""
        found = []
        for event in self.events:
            if isinstance(event.item, Write) and event.item.reads_by is not None:
                by_pair = event.item.exclusive or self.model.rmw_by_pair
                if name == "rmw" or by_pair == (name == "lxsx"):
                    read = self.core.number_of[event.thread, event.item.reads_by]
                    found.append((read, event.number, self.together(read, event.number)))
        return self._rows(found)

    def _dependency(self, name: str) -> Rows:
        if not self.dependencies:
            return [{} for _ in self.events]
        found = self.core.dependencies
        if name == "ctrl":
            return self._of_pairs(found.control_of_pair if self.model.rmw_by_pair else found.control)
        return self._of_pairs(found.address if name == "addr" else found.data)


def _is_one_step(a: Event, b: Event) -> bool:
    if a is b:
        return True
    first, second = a.item, b.item
    return a.thread == b.thread and first is not None and second is not None and first.step == second.step >= 0
