"""Dependencies between events: from which reads an address, a value or the way of control is computed, and when.

A slot that joins several ways depends only on what was computed on the way that was taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import assert_never

from memfence.axiomatic.code import Choose, Define, Join, Read, Write
from memfence.engines.axiomatic.clauses import FALSE, Clauses
from memfence.engines.axiomatic.events import Events, Turn
from memfence.engines.axiomatic.memory import Pairs
from memfence.program.expressions import Expr, registers_of

Sources = Mapping[int, int]
"""Reads, by the number of the event, and where each is one."""


class Dependencies:
    """The relations `address`, `data` and `control`; `control_of_pair`: with the comparisons of compare-exchanges."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self.clauses: Clauses = events.clauses
        self._sources: list[dict[int, Sources]] = [{} for _ in events.code.threads]
        self._numbers = {event.place: event for event in events.list}
        self.address: Pairs = {}
        self.data: Pairs = {}
        for event in events.list:
            if isinstance(event.item, Read | Write):
                self._add(self.address, self.sources(event.thread, event.item.address.index), event.number)
            if isinstance(event.item, Write):
                self._add(self.data, self.sources(event.thread, event.item.value), event.number)
        self.control = self._control([turn for turn in events.turns if not turn.of_pair])

    @cached_property
    def control_of_pair(self) -> Pairs:
        return self._control(self.events.turns)

    def _add(self, relation: Pairs, sources: Sources, target: int) -> None:
        happens = self.events.list[target].happens
        for source, literal in sources.items():
            relation[source, target] = self.clauses.both(literal, happens)

    def sources(self, thread: int, expr: Expr) -> Sources:
        """The reads that the value of an expression of the thread comes from."""
        known, slots = self._sources[thread], sorted(registers_of(expr))
        for item in self.events.slots[thread].definitions.needed_for(slots, known):
            if isinstance(item, Define | Join | Choose | Read):
                known[item.slot] = self._new_sources(thread, item)
        return self._union([known.get(slot, {}) for slot in slots])

    def _new_sources(self, thread: int, item: Define | Join | Choose | Read) -> Sources:
        known = self._sources[thread]
        match item:
            case Define(_, value):
                return self._union([known.get(slot, {}) for slot in registers_of(value)])
            case Join(_, alternatives):
                return self._union(self._taken(thread, guard, value) for guard, value in alternatives)
            case Choose():
                return {}
            case Read():
                event = self._numbers[thread, self.events.slots[thread].definitions.items[item.slot][0]]
                return {event.number: event.happens}
            case _:
                assert_never(item)

    def _taken(self, thread: int, guard: Expr, value: Expr) -> Sources:
        """What a value on the way of this guard comes from, where that way was taken."""
        known, taken = self._sources[thread], self.events.slots[thread].is_true(guard)
        sources = self._union([known.get(slot, {}) for slot in registers_of(value)])
        return {read: self.clauses.both(taken, literal) for read, literal in sources.items()}

    def _union(self, parts: Iterable[Sources]) -> Sources:
        found: dict[int, list[int]] = {}
        for part in parts:
            for read, literal in part.items():
                if literal != FALSE:
                    found.setdefault(read, []).append(literal)
        return {read: self.clauses.any_of(literals) for read, literals in found.items()}

    def _control(self, turns: Sequence[Turn]) -> Pairs:
        """Every event behind a branch depends on what decided it."""
        found: dict[tuple[int, int], list[int]] = {}
        for turn in turns:
            sources = self.sources(turn.thread, turn.condition)
            for event in self.events.list:
                if event.thread == turn.thread and event.position > turn.position:
                    for source, literal in sources.items():
                        passed = self.clauses.all_of((literal, turn.happens, event.happens))
                        if passed != FALSE:
                            found.setdefault((source, event.number), []).append(passed)
        return {pair: self.clauses.any_of(literals) for pair, literals in found.items()}
