"""Which store was overtaken by which later access of its own process: the reason why a run is not SC.

A load that reads memory while an earlier store of its process to another variable is pending overtakes that store;
under PSO, so does a store that commits first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from memfence.execution.graph import ExecutionGraph, Node
from memfence.execution.occurrences import Occurrence, occurrences
from memfence.execution.trace import Trace
from memfence.execution.trace_graph import trace_graph
from memfence.records import Record


class Overtaken(Record):
    """`store` was pending when `by`, later in its process, took effect; `commit` is when `store` did, if ever.

    `by` is a load from memory, or the commit of a younger store: then `issued` is where that store was issued.
    """

    store: Occurrence
    by: Occurrence
    issued: Occurrence | None
    commit: Occurrence | None


class Why(Record):
    """The overtaken pair that matters most, the others, and the accesses of other processes that made it matter.

    `hidden_from`: a read of the overtaken store's variable before its commit. `missed`: a write of the variable that
    the overtaking load read, which takes effect only after it.
    """

    pair: Overtaken
    others: tuple[Overtaken, ...]
    hidden_from: Occurrence | None
    missed: Occurrence | None


def overtaken_pairs(trace: Trace) -> tuple[Overtaken, ...]:
    """Every pair of the run, ordered by when the overtaking access took effect, then by age of the store."""
    made = trace_graph(trace)
    found = list[Overtaken]()
    for by, pending in _with_pending_stores(made.graph):
        if _can_overtake(made.graph, by):
            issued = made.issued[by.number]
            took_effect, own = made.committed.get(by.number, issued), issued if by.is_buffered else None
            for store in pending:
                commit = made.committed.get(store.number)
                found.append(Overtaken(made.issued[store.number], took_effect, own, commit))
    return tuple(found)


def _can_overtake(graph: ExecutionGraph, by: Node) -> bool:
    """A load from memory, or a store that was in the buffer itself."""
    return not graph.is_forwarded(by.number) if by.event.reads else by.is_buffered


def _with_pending_stores(graph: ExecutionGraph) -> Iterator[tuple[Node, list[Node]]]:
    """The events in the order of their effect, each with the older stores of its process then pending, oldest first."""
    pending: dict[object, list[Node]] = {}
    issued = 0
    timed = [(node.effect, node) for node in graph.nodes if node.effect is not None]
    for time, node in sorted(timed, key=lambda entry: (entry[0], entry[1].number)):
        while issued < len(graph.nodes) and graph.nodes[issued].step <= time:
            if graph.nodes[issued].is_buffered:
                pending.setdefault(graph.nodes[issued].event.thread, []).append(graph.nodes[issued])
            issued += 1
        mine = [s for s in pending.get(node.event.thread, ()) if s.effect is None or s.effect > time]
        pending[node.event.thread] = mine
        yield node, [store for store in mine if store.number < node.number]


def torn_steps(trace: Trace) -> tuple[tuple[Occurrence, Occurrence | None], ...]:
    """Stores that are one step with other accesses in the text but reach memory later, each with its commit, if any.

    Such a step is atomic under SC and not here, though nothing is overtaken.
    """
    made = trace_graph(trace)
    count = Counter((node.step, node.event.thread) for node in made.graph.nodes if node.event.is_access)
    torn = (n for n in made.graph.nodes if n.is_buffered and count[n.step, n.event.thread] > 1)
    return tuple((made.issued[node.number], made.committed.get(node.number)) for node in torn)


def explain(trace: Trace) -> Why | None:
    """The overtaken pair that matters most, or None where the run overtakes nothing.

    Best: another process misses the store (it reads the old value before the commit) and the load misses a write of
    another process; next: one of these. Among equals, the latest overtaking, and of its stores the youngest. What
    happens inside a library is named only where nothing else is overtaken.
    """
    happened = occurrences(trace)
    pairs = overtaken_pairs(trace)
    if not pairs:
        return None
    pairs = tuple(pair for pair in pairs if not is_internal(trace, pair)) or pairs

    def weight(pair: Overtaken) -> tuple[int, int, int]:
        conflicts = int(_hidden_from(pair, happened) is not None) + int(_missed(pair, happened) is not None)
        return conflicts, pair.by.position, pair.store.position

    best = max(pairs, key=weight)
    others = tuple(pair for pair in pairs if pair is not best)
    return Why(best, others, _hidden_from(best, happened), _missed(best, happened))


def is_internal(trace: Trace, pair: Overtaken) -> bool:
    """Whether one of the two accesses is to memory inside a library."""
    variables = trace.program.variables
    return any(variables[event.access.variable].is_internal for event in (pair.store, pair.by))


def _of_others(pair: Overtaken, happened: tuple[Occurrence, ...], variable: int) -> Iterator[Occurrence]:
    process = pair.store.access.process
    return (e for e in happened if e.access.process != process and e.access.variable == variable)


def _hidden_from(pair: Overtaken, happened: tuple[Occurrence, ...]) -> Occurrence | None:
    commit = pair.commit
    for event in _of_others(pair, happened, pair.store.access.variable):
        before_commit = commit is None or event.position < commit.position
        if event.access.kind == "load" and pair.store.position < event.position and before_commit:
            return event
    return None


def _missed(pair: Overtaken, happened: tuple[Occurrence, ...]) -> Occurrence | None:
    if pair.by.access.kind != "load":
        return None
    for event in _of_others(pair, happened, pair.by.access.variable):
        if event.access.writes_memory and event.position > pair.by.position:
            return event
    return None
