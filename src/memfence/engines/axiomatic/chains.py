"""What follows from atomicity and is hard to find out bit by bit: who comes next at a counter.

Where read-modify-writes are atomic, those at one counter (`counters`) are one chain, and its values grow. So

* a read-modify-write is the very next one behind the write that it reads from;
* of two, the later one has the larger value, and no two have the same;
* who waits until some variable holds its own number, as in a ticket lock, and sees what another one has computed from
  its number, is the next one behind that.

A solver could find all that, one value after the other. Nothing here excludes an execution that the axioms allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from memfence.axiomatic.code import Branch, Check, Define, Given, Read, Wait, Write
from memfence.engines.axiomatic.clauses import FALSE
from memfence.engines.axiomatic.core import Core
from memfence.engines.axiomatic.events import INITIAL, Event
from memfence.engines.axiomatic.vectors import is_equal, is_less
from memfence.program.expressions import Binary, Expr, Register, walk
from memfence.records import Record

Link = tuple[Event, Event]
"""A read-modify-write: its read and its write."""


def demand_chains(core: Core, condition: int) -> None:
    """Where the condition is true, read-modify-writes are atomic, and variables coherent: say what follows."""
    for variable in core.events.ranges.counters:
        chain = _Chain(core, condition, variable)
        chain.demand_ends()
        chain.demand_neighbours()
        chain.demand_growth()
        chain.demand_turns()


class _Chain:
    """All read-modify-writes at one counter."""

    def __init__(self, core: Core, condition: int, variable: int) -> None:
        self.core = core
        self.clauses = core.clauses
        self.memory = core.memory
        self.condition = condition
        self.writes = core.memory.writes_at(variable)
        self.links = [(self._read_of(write), write) for write in self.writes if write.thread != INITIAL]

    def _read_of(self, write: Event) -> Event:
        assert isinstance(write.item, Write) and write.item.reads_by is not None
        return self.core.events.list[self.core.number_of[write.thread, write.item.reads_by]]

    def _demand(self, *literals: int) -> None:
        self.clauses.add(-self.condition, *literals)

    def _reads(self, read: Event, write: Event) -> int:
        return self.memory.read_from.get((write.number, read.number), FALSE)

    def _comes_before(self, a: Event, b: Event) -> int:
        return self.memory.order[a.number, b.number]

    def demand_ends(self) -> None:
        """What does not happen comes last: the order means nothing there, and so no execution is excluded."""
        for (_, a), (_, b) in combinations(self.links, 2):
            self._demand(-a.happens, b.happens, self._comes_before(a, b))
            self._demand(a.happens, -b.happens, self._comes_before(b, a))
            self._demand(a.happens, b.happens, self._comes_before(a, b))

    def demand_neighbours(self) -> None:
        for read, own in self.links:
            for source in self.writes:
                not_here = (-self._reads(read, source), -own.happens)
                if source is own:
                    self._demand(*not_here)
                    continue
                self._demand(*not_here, self._comes_before(source, own))
                for other in self.writes:
                    if other not in (source, own):
                        before, after = self._comes_before(other, source), self._comes_before(own, other)
                        self._demand(*not_here, before, after)

    def demand_growth(self) -> None:
        for _, a in self.links:
            for b in self.writes:
                if a is not b:
                    assert a.value is not None and b.value is not None
                    is_larger = is_less(self.clauses, b.value, a.value)
                    self._demand(-a.happens, -self._comes_before(b, a), is_larger)

    def demand_turns(self) -> None:
        """`number == seen`, where some write of `seen` holds what a read-modify-write left at the counter."""
        left = {write.value.bits: write for write in self.writes if write.value is not None}
        for turn in _turns(self.core, self.links):
            for source in self.core.memory.writes:
                before = left.get(source.value.bits) if source.value is not None else None
                seen = self._reads(turn.looking, source)
                if before is not None and seen != FALSE:
                    is_next = self._reads(turn.link[0], before)
                    not_here = (-seen, -before.happens, -turn.link[1].happens)
                    self._demand(*not_here, -turn.is_own, is_next)
                    self._demand(*not_here, turn.is_own, -is_next)


class _Turn(Record):
    """Where the thread compares its number with what it sees elsewhere; `is_own`: where they are equal."""

    link: Link
    looking: Event
    is_own: int


def _turns(core: Core, links: list[Link]) -> Iterator[_Turn]:
    reads = {(e.thread, e.item.slot): e for e in core.events.list if isinstance(e.item, Read)}
    numbers = {(read.thread, read.item.slot): (read, own) for read, own in links if isinstance(read.item, Read)}
    for thread in {own.thread for _, own in links}:
        for first, second in _compared_slots(core, thread):
            link, looking = numbers.get((thread, first)), reads.get((thread, second))
            if link is not None and looking is not None and looking is not link[0]:
                assert link[0].value is not None and looking.value is not None
                yield _Turn(link, looking, is_equal(core.clauses, looking.value, link[0].value))


def _compared_slots(core: Core, thread: int) -> set[tuple[int, int]]:
    """Slots that the thread compares for equality, both ways round."""
    found: set[tuple[int, int]] = set()
    for item in core.code.threads[thread].items:
        for node in (node for expr in _conditions(item) for node in walk(expr)):
            match node:
                case Binary("==" | "!=", Register(a), Register(b)):
                    found |= {(a, b), (b, a)}
    return found


def _conditions(item: object) -> tuple[Expr, ...]:
    match item:
        case Define(_, value):
            return (value,)
        case Branch(condition) | Check(condition) | Given(condition) | Wait(condition):
            return (condition,)
    return ()
