"""Happens-before of a run, and its cycle: why no SC run has the same trace (Shasha and Snir 1988).

A run has the trace of an SC run iff program order, read-from, store order and from-read (`execution.graph`) have no
cycle.
"""

from __future__ import annotations

from collections.abc import Iterator

from memfence.digraph import is_acyclic, shortest_way
from memfence.execution.graph import Edge, EdgeKind, ExecutionGraph, Node
from memfence.execution.occurrences import occurrences
from memfence.execution.overtaking import explain
from memfence.execution.trace import Trace
from memfence.execution.trace_graph import trace_graph
from memfence.records import Record

MOST_ACCESSES = 2000
"""Longer runs are not drawn: nobody would read the picture."""


class Cycle(Record):
    """Edges of a shortest cycle, each starting where the one before ends; the first is the overtaken program order."""

    edges: tuple[Edge, ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(edge.source for edge in self.edges)


def is_sequential(trace: Trace) -> bool:
    """Whether some SC run has the same trace: each step at one moment, each load reading the same store."""
    return is_graph_of_an_sc_run(trace_graph(trace).graph)


def is_graph_of_an_sc_run(graph: ExecutionGraph) -> bool:
    """Whether the steps of the execution can be put in an order that keeps happens-before."""
    steps = 1 + max((node.step for node in graph.nodes), default=-1)
    after: list[set[int]] = [set() for _ in range(steps)]
    for earlier, later in graph.generating():
        source, target = graph.nodes[earlier].step, graph.nodes[later].step
        if source != target:
            after[source].add(target)
    return is_acyclic(steps, lambda step: after[step])


def happens_before_cycle(trace: Trace) -> Cycle | None:
    """A cycle with the fewest edges, at most two nodes per process; None where the run has an SC trace or is very long.

    Program order within one step of a process is left out: the step is atomic in the text, see `torn_steps`.
    """
    if not 0 < len(occurrences(trace)) <= MOST_ACCESSES:
        return None
    graph = trace_graph(trace).graph
    found = [cycle for pair in _overtaken(graph) if (cycle := _cycle_through(graph, *pair)) is not None]
    return min(found, key=lambda cycle: len(cycle.edges), default=None)


def explained_cycle(trace: Trace) -> Cycle | None:
    """The cycle that closes over the pair which `explain` blames; a shortest one where that pair closes none."""
    why = explain(trace)
    if why is None or not 0 < len(occurrences(trace)) <= MOST_ACCESSES:
        return happens_before_cycle(trace)
    later = why.pair.by if why.pair.issued is None else why.pair.issued
    blamed = (why.pair.store.position, later.position)
    graph = trace_graph(trace).graph
    pairs = [(store, by) for store, by in _overtaken(graph) if (store.step, by.step) == blamed]
    found = [cycle for pair in pairs if (cycle := _cycle_through(graph, *pair)) is not None]
    return min(found, key=lambda cycle: len(cycle.edges), default=None) or happens_before_cycle(trace)


def _overtaken(graph: ExecutionGraph) -> Iterator[tuple[Node, Node]]:
    """A store and a later access of its process that took effect first: only these can close a cycle."""
    by_process: dict[object, list[Node]] = {}
    for node in graph.nodes:
        if node.event.is_access:
            by_process.setdefault(node.event.thread, []).append(node)
    for mine in by_process.values():
        for i, store in enumerate(mine):
            if store.is_buffered:
                yield from ((store, by) for by in mine[i + 1 :] if _took_effect_before(graph, by, store))


def _took_effect_before(graph: ExecutionGraph, by: Node, store: Node) -> bool:
    if by.effect is None or by.step == store.step or (by.event.reads and graph.is_forwarded(by.number)):
        return False
    return store.effect is None or by.effect < store.effect


def _cycle_through(graph: ExecutionGraph, store: Node, by: Node) -> Cycle | None:
    """A shortest cycle that contains the program order from `store` to `by`.

    Conflicts come first, then program order: of two shortest cycles the one with less of the program is clearer.
    """

    def leaving(number: int) -> Iterator[tuple[int, EdgeKind]]:
        for target, kind in graph.leaving(number):
            within_step = kind == "po" and graph.nodes[target].step == graph.nodes[number].step
            if graph.nodes[target].event.is_access and not within_step:
                yield target, kind

    way = shortest_way(by.number, store.number, leaving)
    if way is None:
        return None
    back = (Edge(graph.nodes[source], graph.nodes[target], kind) for source, target, kind in way)
    return Cycle((Edge(store, by, "po"), *back))
