"""The path that explains a borderline load, against the graph of the record: a real one, and none is cheaper."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import HealthCheck, assume, example, given, settings

from memfence.engines.native.monitor import BorderlineEvent, monitor_events, monitor_stream
from memfence.execution.event import conflict
from memfence.execution.graph import ExecutionGraph
from memfence.execution.recording import TraceEvent, recording_graph
from twins.recorded_events import Event, as_lines, as_trace_events, interleavings

Cost = tuple[int, int]
"""Gaps on the way, then edges."""

CHAIN = (
    Event("st", 0, 0, 1),
    Event("ld", 0, 1, 0),
    Event("st", 1, 1, 1),
    Event("ld", 2, 1, 1),
    Event("st", 2, 2, 1),
    Event("ld", 1, 2, 1),
    Event("ld", 1, 0, 1),
)
"""Thread 1 comes from its store to its last load directly, or by way of thread 2: without a gap."""


def found_in(events: Sequence[Event]) -> BorderlineEvent | None:
    return monitor_events("record", as_trace_events(events)).event


def is_gap(graph: ExecutionGraph, earlier: int, later: int) -> bool:
    """Whether a store buffer does not keep these two in order: a store, then a load of its thread."""
    a, b = graph.nodes[earlier].event, graph.nodes[later].event
    return a.thread == b.thread and a.kind == "store" and b.kind == "load"


def edges_into(graph: ExecutionGraph, later: int, goal: int) -> dict[int, bool]:
    """The events that `later` directly comes after, and whether that costs a gap.

    Program order costs one where a store buffer does not keep it; a conflict, a load of the own store included, none.
    Into `goal`, which may have missed what it read, only program order leads.
    """
    found: dict[int, bool] = {}
    for earlier in range(later):
        a, b = graph.nodes[earlier].event, graph.nodes[later].event
        if later != goal and conflict(a, b):
            found[earlier] = False
        elif a.thread == b.thread:
            found[earlier] = is_gap(graph, earlier, later)
    return found


def cheapest(graph: ExecutionGraph, start: int, goal: int) -> Cost | None:
    best: dict[int, Cost] = {start: (0, 0)}
    for number in range(start + 1, goal + 1):
        ways = [
            (best[earlier][0] + gap, best[earlier][1] + 1)
            for earlier, gap in edges_into(graph, number, goal).items()
            if earlier in best
        ]
        if ways:
            best[number] = min(ways)
    return best.get(goal)


def number_of(event: TraceEvent) -> int:
    assert event.line is not None
    return event.line - 1


def check_path(events: Sequence[Event], found: BorderlineEvent) -> None:
    graph = recording_graph(as_trace_events(events))
    path = [number_of(event) for event in found.path]
    start, goal = number_of(found.missed), number_of(found.load)
    assert path[0] == start and path[-1] == goal
    assert all(earlier in edges_into(graph, later, goal) for earlier, later in pairwise(path))
    gaps = [edge for edge in pairwise(path) if is_gap(graph, *edge)]
    assert [(number_of(store), number_of(load)) for store, load in found.gaps] == gaps
    cost = sum(edges_into(graph, later, goal)[earlier] for earlier, later in pairwise(path)), len(path) - 1
    assert cost == cheapest(graph, start, goal)


def many(examples: int):
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much]
    return settings(max_examples=examples, deadline=None, suppress_health_check=checks)


@given(interleavings(threads=3, addresses=3, most=16))
@example(CHAIN)
@many(300)
def test_the_path_of_a_borderline_load_is_a_cheapest_one(events):
    found = found_in(events)
    assume(found is not None)
    check_path(events, found)


@given(interleavings(threads=3, addresses=2, most=12))
@many(150)
def test_events_at_hand_have_the_answer_of_their_lines(events):
    read = monitor_stream("trace", io.BufferedReader(io.BytesIO(as_lines(events).encode())))
    at_hand = monitor_events("record", as_trace_events(events))
    assert read.event == at_hand.event
    assert (read.events, read.threads, read.addresses) == (at_hand.events, at_hand.threads, at_hand.addresses)
