"""The graph of an execution: its events and the relations between them, computed once.

Program order (po) within a thread; a store to the loads that read it (rf); the order in which the stores to one address
reached memory (co); a load to the stores that overwrite what it read (fr). A buffered store and its commit are one
event. A store that never commits counts as committed after the end, in the order in which such stores were issued: that
only completes the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Literal

from memfence.execution.event import Cell, Event, Thread
from memfence.records import Record

EdgeKind = Literal["po", "rf", "co", "fr"]


class Node(Record):
    """An event in its execution, where it has the given number.

    `step` is the step that issues it, `effect` the one in which it takes effect: a later one for a store that waits in
    a buffer, None where it is still there at the end. `place_in_program`: position among the events of its thread.
    """

    number: int
    event: Event
    step: int
    effect: int | None
    place_in_program: int

    @property
    def is_buffered(self) -> bool:
        """Whether it is a store that went through a store buffer."""
        return self.effect != self.step


class Edge(Record):
    source: Node
    target: Node
    kind: EdgeKind


class ExecutionGraph(Record):
    """Nodes stand at their numbers, in the order in which they were issued; the relations speak of numbers.

    `read_from`: of each read the store, None for the initial value. `writes`: all stores in the order of their effect;
    `store_order`: the same for each address. `readers`: of each store (None: the initial values) the reads, in order.
    """

    nodes: tuple[Node, ...]
    threads: Mapping[Thread, tuple[int, ...]]
    read_from: Mapping[int, int | None]
    writes: tuple[int, ...]
    store_order: Mapping[Cell, tuple[int, ...]]
    readers: Mapping[int | None, tuple[int, ...]]
    _rank: Mapping[int, int]
    """Of each store, its place in the store order of its address."""

    def overwriting(self, number: int) -> tuple[int, ...]:
        """The stores that come after the store, or after what the read has read, in order; never the event itself."""
        event = self.nodes[number].event
        assert event.address is not None
        store = number if event.writes else self.read_from[number]
        first = 0 if store is None else self._rank[store] + 1
        return self.store_order.get(event.address, ())[first:]

    def is_forwarded(self, read: int) -> bool:
        """Whether the load was served by its thread's own store buffer."""
        store = self.read_from[read]
        if store is None or self.nodes[store].event.thread != self.nodes[read].event.thread:
            return False
        effect = self.nodes[store].effect
        return effect is None or effect > self.nodes[read].step

    def leaving(self, number: int) -> Iterator[tuple[int, EdgeKind]]:
        """Every edge to a later event of each relation, conflicts first."""
        event = self.nodes[number].event
        if event.writes:
            yield from ((load, "rf") for load in self.readers.get(number, ()))
            yield from ((store, "co") for store in self.overwriting(number))
        elif event.reads:
            yield from ((store, "fr") for store in self.overwriting(number))
        if event.thread is not None:
            mine = self.threads[event.thread]
            yield from ((later, "po") for later in mine[self.nodes[number].place_in_program + 1 :])

    def generating(self) -> Iterator[tuple[int, int]]:
        """Edges from which all others follow, few for each event."""
        for mine in self.threads.values():
            yield from pairwise(mine)
        for order in self.store_order.values():
            yield from pairwise(order)
        for read, store in self.read_from.items():
            if store is not None:
                yield store, read
            if not self.nodes[read].event.writes:
                yield from ((read, first) for first in self.overwriting(read)[:1])


class GraphBuilder:
    """Puts a graph together, event by event, in the order in which they are issued."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._steps: list[int] = []
        self._effects: list[int | None] = []
        self._read_from: dict[int, int | None] = {}
        self._writes: list[int] = []
        self._orders: dict[Cell, list[int]] = {}
        self._pending: list[int] = []

    def add(self, event: Event, step: int, *, buffered: bool = False) -> int:
        """The event takes effect at once, in memory; or, a `buffered` store, when it is committed. Its number."""
        number = len(self._events)
        if event.reads:
            self._read_from[number] = self.newest(event.address)
        self._append(event, step, None if buffered else step)
        if buffered:
            self._pending.append(number)
        elif event.writes:
            self._take_effect(number)
        return number

    def add_read(self, event: Event, step: int, store: int | None) -> int:
        """A load that reads `store` (None: the initial value), whatever memory holds. Its number."""
        self._read_from[len(self._events)] = store
        self._append(event, step, step)
        return len(self._events) - 1

    def commit(self, number: int, step: int) -> None:
        """The pending store reaches memory."""
        self._pending.remove(number)
        self._effects[number] = step
        self._take_effect(number)

    def pending(self, thread: Thread, address: Cell) -> list[int]:
        """The stores of the thread to the address that have not reached memory, oldest first."""
        events = self._events
        return [n for n in self._pending if (events[n].thread, events[n].address) == (thread, address)]

    def stores_to(self, address: Cell) -> tuple[int, ...]:
        """Those that have reached memory, in order."""
        return tuple(self._orders.get(address, ()))

    def newest(self, address: Cell | None) -> int | None:
        """The store that memory holds."""
        order = self._orders.get(address) if address is not None else None
        return order[-1] if order else None

    def build(self) -> ExecutionGraph:
        while self._pending:
            self._take_effect(self._pending.pop(0))
        threads: dict[Thread, list[int]] = {}
        nodes = list[Node]()
        for number, (event, step, effect) in enumerate(zip(self._events, self._steps, self._effects, strict=True)):
            mine = [] if event.thread is None else threads.setdefault(event.thread, [])
            nodes.append(Node(number, event, step, effect, len(mine)))
            mine.append(number)
        readers: dict[int | None, list[int]] = {}
        for read, store in self._read_from.items():
            readers.setdefault(store, []).append(read)
        return ExecutionGraph(
            tuple(nodes),
            {thread: tuple(mine) for thread, mine in threads.items()},
            dict(self._read_from),
            tuple(self._writes),
            {address: tuple(order) for address, order in self._orders.items()},
            {store: tuple(reads) for store, reads in readers.items()},
            {store: rank for order in self._orders.values() for rank, store in enumerate(order)},
        )

    def _append(self, event: Event, step: int, effect: int | None) -> None:
        self._events.append(event)
        self._steps.append(step)
        self._effects.append(effect)

    def _take_effect(self, number: int) -> None:
        address = self._events[number].address
        assert address is not None
        self._writes.append(number)
        self._orders.setdefault(address, []).append(number)
