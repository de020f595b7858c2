"""Who reads from whom, in which order writes reach each variable, and what memory holds at the end.

The order of writes is one order of all writes that may meet at a variable. Between writes that do not happen, or happen
elsewhere, it means nothing, so that it restricts no execution.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from memfence.axiomatic.code import Write
from memfence.engines.axiomatic.clauses import FALSE, TRUE, Clauses
from memfence.engines.axiomatic.events import INITIAL, Event, Events
from memfence.engines.axiomatic.vectors import Vector, constant, demand_equal, free_vector, is_equal, one_of
from memfence.program.expressions import Address, Expr

Pairs = dict[tuple[int, int], int]
"""Literals of pairs of events, by number; a pair that is not there is never in the relation."""


class Memory:
    """`read_from[write, read]`; `order[a, b]`: a comes before b, if both happen at the same variable."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self.clauses: Clauses = events.clauses
        self.reads = [event for event in events.list if event.is_read and event.happens != FALSE]
        self.writes = [event for event in events.list if event.is_write and event.happens != FALSE]
        self._at: dict[int, list[Event]] = {}
        for write in self.writes:
            for variable in write.at:
                self._at.setdefault(variable, []).append(write)
        self._same: Pairs = {}
        self._last: dict[int, Vector] = {}
        self.read_from: Pairs = {}
        self.order: Pairs = {}
        self._put_writes_in_order()
        for read in self.reads:
            self._choose_source(read)
        self._pair_up()

    def writes_at(self, variable: int) -> list[Event]:
        """The writes that may go there, the initial one first."""
        return self._at.get(variable, [])

    def same_place(self, a: Event, b: Event) -> int:
        """Where both events happen, at the same variable."""
        key = (min(a.number, b.number), max(a.number, b.number))
        known = self._same.get(key)
        if known is None:
            both = [self.clauses.both(literal, b.at[v]) for v, literal in a.at.items() if v in b.at]
            known = self._same[key] = self.clauses.any_of(both)
        return known

    def coherence(self, a: Event, b: Event) -> int:
        """Where the write a reaches the variable before the write b."""
        return self.clauses.both(self.same_place(a, b), self.order.get((a.number, b.number), FALSE))

    def _put_writes_in_order(self) -> None:
        for writes in self._at.values():
            for a, b in combinations(writes, 2):
                if (a.number, b.number) not in self.order:
                    first = TRUE if a.thread == INITIAL else self.clauses.fresh()
                    self.order[a.number, b.number], self.order[b.number, a.number] = first, -first
        triples = {
            (a.number, b.number, c.number)
            for writes in self._at.values()
            for a, b, c in combinations([write for write in writes if write.thread != INITIAL], 3)
        }
        for x, y, z in sorted(triples):
            xy, yz, xz = self.order[x, y], self.order[y, z], self.order[x, z]
            self.clauses.list += [[-xy, -yz, xz], [xy, yz, -xz]]

    def _choose_source(self, read: Event) -> None:
        """Every read that happens has one source: at the same variable, with the same value."""
        sources = {write.number: write for variable in read.at for write in self._at.get(variable, ())}
        literals = [self._source(read, write, alone=len(sources) == 1) for write in sources.values()]
        self.clauses.add(-read.happens, *literals)
        self.clauses.at_most_one(literals)

    def _source(self, read: Event, write: Event, *, alone: bool) -> int:
        literal = read.happens if alone else self.clauses.fresh()
        self.read_from[write.number, read.number] = literal
        if not alone:
            self.clauses.add(-literal, read.happens)
        for variable, here in read.at.items():
            self.clauses.add(-literal, -here, write.at.get(variable, FALSE))
        assert read.value is not None and write.value is not None
        demand_equal(self.clauses, literal, read.value, write.value)
        return literal

    def _pair_up(self) -> None:
        """The write of a read-modify-write goes where its read went, and no other write belongs to that."""
        events = {event.place: event for event in self.events.list}
        owners: dict[int, list[int]] = {}
        for write in self.writes:
            if isinstance(write.item, Write) and write.item.reads_by is not None:
                read = events[write.thread, write.item.reads_by]
                self.clauses.add(-write.happens, self.same_place(read, write))
                owners.setdefault(read.number, []).append(write.happens)
        for writes in owners.values():
            self.clauses.at_most_one(writes)

    def last_value(self, variable: int) -> Vector:
        """What the variable holds at the end."""
        known = self._last.get(variable)
        if known is None:
            known = self._last[variable] = self._new_last_value(variable)
        return known

    def last_value_at(self, address: Address, value: Callable[[Expr], Vector]) -> Vector:
        """What is there at the end; `value`: of the index."""
        if address.variable is not None:
            return self.last_value(address.variable)
        index = value(address.index)
        at = ((is_equal(self.clauses, index, constant(n)), address.base + n) for n in range(address.size))
        return one_of(self.clauses, [(here, self.last_value(variable)) for here, variable in at])

    def _new_last_value(self, variable: int) -> Vector:
        writes = self.writes_at(variable)
        if all(write.thread == INITIAL for write in writes):
            return self.events.initial[variable]
        vector = free_vector(self.clauses, self.events.ranges.memory[variable])
        for write in writes:
            assert write.value is not None
            demand_equal(self.clauses, self.is_last(write, variable), vector, write.value)
        return vector

    def is_last(self, write: Event, variable: int) -> int:
        """Where the write happens at the variable, and no other one comes after it."""
        later = [
            self.clauses.both(other.at[variable], self.order[write.number, other.number])
            for other in self.writes_at(variable)
            if other is not write
        ]
        return self.clauses.all_of([write.at[variable], *(-literal for literal in later)])
