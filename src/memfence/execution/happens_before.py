"""The happens-before cycle of a run: why no SC run has the same trace (Shasha and Snir 1988).

Nodes are the memory accesses of the run, a store and its commit being one node. Edges are program order (po), a store
to the loads that read it (rf), the order of stores to one variable in memory (co), and a load to the stores that
overwrite what it read (fr). A run has the trace of an SC run iff these have no cycle. A store that never commits counts
as committed after the end: that only completes the run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from memfence.execution.overtaking import Event, events
from memfence.execution.trace import Trace

EdgeKind = Literal["po", "rf", "co", "fr"]
MOST_NODES = 2000
"""Longer runs are not drawn: nobody would read the picture."""


@dataclass(frozen=True, slots=True)
class Node:
    """One access: `event` is where it was issued, `commit` where a buffered store reached memory, if it did."""

    event: Event
    commit: Event | None
    place_in_program: int
    """Position among the accesses of its process."""

    @property
    def is_store(self) -> bool:
        return self.event.access.kind in ("store", "pending store")


@dataclass(frozen=True, slots=True)
class Edge:
    source: Node
    target: Node
    kind: EdgeKind


@dataclass(frozen=True, slots=True)
class Cycle:
    """Edges of a shortest cycle, each starting where the one before ends; the first is the overtaken program order."""

    edges: tuple[Edge, ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(edge.source for edge in self.edges)


def happens_before_cycle(trace: Trace) -> Cycle | None:
    """A cycle with the fewest edges, at most two nodes a process; None where the run has an SC trace (or is very long).

    Program order within one step of a process is left out: the step is atomic in the text, see `torn_steps`.
    """
    happened = events(trace)
    if not 0 < len(happened) <= MOST_NODES:
        return None
    relation = _Relation(happened)
    found = [cycle for pair in relation.overtaken() if (cycle := relation.cycle_through(*pair)) is not None]
    return min(found, key=lambda cycle: len(cycle.edges), default=None)


class _Relation:
    """Nodes of the run and the edges between them, computed once."""

    def __init__(self, happened: Sequence[Event]) -> None:
        self.nodes: list[Node] = []
        self.by_process: dict[int, list[Node]] = {}
        self.read_from: dict[Node, Node | None] = {}
        self.stores: dict[int, list[Node]] = {}
        """Stores of a variable, in the order in which they reached memory."""
        self._collect(happened)
        self.rank = {store: i for order in self.stores.values() for i, store in enumerate(order)}
        self.readers: dict[Node | None, list[Node]] = {}
        for load, store in self.read_from.items():
            self.readers.setdefault(store, []).append(load)

    def _collect(self, happened: Sequence[Event]) -> None:
        commit_of = _commits(happened)
        pending: list[Node] = []
        for number, event in enumerate(happened):
            access = event.access
            if access.kind == "commit":
                done = next(n for n in pending if n.commit is event)
                pending.remove(done)
                self.stores.setdefault(access.variable, []).append(done)
                continue
            mine = self.by_process.setdefault(access.process, [])
            node = Node(event, commit_of.get(number), len(mine))
            mine.append(node)
            self.nodes.append(node)
            match access.kind:
                case "store":
                    self.stores.setdefault(access.variable, []).append(node)
                case "pending store":
                    pending.append(node)
                case "own load":
                    self.read_from[node] = _newest(pending, access.process, access.variable)
                case "load":
                    self.read_from[node] = next(reversed(self.stores.get(access.variable, [])), None)
        for left in pending:
            self.stores.setdefault(left.event.access.variable, []).append(left)

    def overtaken(self) -> Iterator[tuple[Node, Node]]:
        """A store and a later access of its process that took effect first: only these can close a cycle."""
        for mine in self.by_process.values():
            for i, store in enumerate(mine):
                if store.event.access.kind == "pending store":
                    yield from ((store, by) for by in mine[i + 1 :] if _took_effect_before(by, store))

    def cycle_through(self, store: Node, by: Node) -> Cycle | None:
        """A shortest cycle that contains the program order from `store` to `by`."""
        came: dict[Node, Edge] = {}
        queue = deque([by])
        while queue and store not in came:
            here = queue.popleft()
            for edge in self.leaving(here):
                if edge.target not in came and edge.target is not by:
                    came[edge.target] = edge
                    queue.append(edge.target)
        if store not in came:
            return None
        edges = [came[store]]
        while edges[-1].source is not by:
            edges.append(came[edges[-1].source])
        return Cycle((Edge(store, by, "po"), *reversed(edges)))

    def leaving(self, node: Node) -> Iterator[Edge]:
        """Conflicts first, then program order: of two shortest cycles the one with less of the program is clearer."""
        order = self.stores.get(node.event.access.variable, [])
        if node.is_store:
            yield from (Edge(node, load, "rf") for load in self.readers.get(node, ()))
            yield from (Edge(node, later, "co") for later in order[self.rank[node] + 1 :])
        else:
            store = self.read_from[node]
            first = 0 if store is None else self.rank[store] + 1
            yield from (Edge(node, later, "fr") for later in order[first:])
        for later in self.by_process[node.event.access.process][node.place_in_program + 1 :]:
            if later.event.position != node.event.position:
                yield Edge(node, later, "po")


def _commits(happened: Sequence[Event]) -> dict[int, Event]:
    """The commit of each buffered store, by its number: a commit takes the oldest one of its process and variable."""
    pending: dict[tuple[int, int], deque[int]] = {}
    found: dict[int, Event] = {}
    for number, event in enumerate(happened):
        key = (event.access.process, event.access.variable)
        if event.access.kind == "pending store":
            pending.setdefault(key, deque()).append(number)
        elif event.access.kind == "commit":
            found[pending[key].popleft()] = event
    return found


def _newest(pending: Sequence[Node], process: int, variable: int) -> Node | None:
    def wanted(node: Node) -> bool:
        return (node.event.access.process, node.event.access.variable) == (process, variable)

    return next((node for node in reversed(pending) if wanted(node)), None)


def _took_effect_before(by: Node, store: Node) -> bool:
    if by.event.access.kind == "own load" or by.event.position == store.event.position:
        return False
    if by.event.access.kind == "pending store":
        if by.commit is None:
            return False
        return store.commit is None or by.commit.position < store.commit.position
    return store.commit is None or by.event.position < store.commit.position
