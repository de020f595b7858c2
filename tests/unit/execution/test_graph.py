"""The relations of an execution graph against their definitions, pair by pair, on random runs and records."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfence.execution.event import Event, conflict
from memfence.execution.graph import ExecutionGraph
from memfence.execution.occurrences import Occurrence, occurrences
from memfence.execution.recording import TraceEvent, recording_graph
from memfence.execution.trace import Trace
from memfence.execution.trace_graph import trace_graph
from memfence.models.spec import ModelName
from memfence.models.state import Commit, ProcessStep
from memfence.program.ir import Program
from support.generators.programs import EVERYTHING, Shape, programs
from support.generators.random_runs import random_run
from support.models import memory_model
from support.samples import Sample, message_passing, store_buffering
from twins.recorded_events import Event as Recorded
from twins.recorded_events import as_trace_events, closure, conflict_order, interleavings, program_order

Pairs = set[tuple[int, int]]
SHAPE = Shape(processes=(2, 3), statements=(2, 4), features=EVERYTHING - {"loops"})


def many(examples: int):
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(max_examples=examples, deadline=None, suppress_health_check=checks)


def relations(graph: ExecutionGraph) -> dict[str, Pairs]:
    """The edges between accesses, by relation."""
    found: dict[str, Pairs] = {"po": set(), "rf": set(), "co": set(), "fr": set()}
    for node in graph.nodes:
        for target, kind in graph.leaving(node.number):
            if node.event.is_access and graph.nodes[target].event.is_access:
                found[kind].add((node.number, target))
    return found


def times(happened: Sequence[Occurrence]) -> list[tuple[Occurrence, int]]:
    """Every access but commits, with the time at which it takes effect: pending stores at the end, in order."""
    issued = [(at, o) for at, o in enumerate(happened) if o.access.kind != "commit"]
    commits = [(at, o) for at, o in enumerate(happened) if o.access.kind == "commit"]
    found = []
    for at, o in issued:
        key = (o.access.process, o.access.variable)
        if o.access.kind == "pending store":
            older = [b for b, p in issued if b < at and p.access.kind == "pending store" and same_cell(p, o)]
            mine = [b for b, c in commits if (c.access.process, c.access.variable) == key]
            at = mine[len(older)] if len(older) < len(mine) else len(happened) + at
        found.append((o, at))
    return found


def same_cell(a: Occurrence, b: Occurrence) -> bool:
    return (a.access.process, a.access.variable) == (b.access.process, b.access.variable)


def defined(trace: Trace) -> dict[str, Pairs]:
    """The relations straight from their definitions; numbers count the accesses."""
    happened = occurrences(trace)
    accesses = times(happened)
    number = range(len(accesses))
    is_store = [o.access.kind in ("store", "pending store") for o, _ in accesses]
    variable = [o.access.variable for o, _ in accesses]
    process = [o.access.process for o, _ in accesses]
    time = [at for _, at in accesses]
    issue = [at for at, o in enumerate(happened) if o.access.kind != "commit"]
    read: dict[int, int | None] = {}
    for i in number:
        if not is_store[i]:
            stores = [j for j in number if is_store[j] and variable[j] == variable[i]]
            if accesses[i][0].access.kind == "own load":
                mine = [j for j in stores if process[j] == process[i] and issue[j] < issue[i] < time[j]]
                read[i] = max(mine, key=lambda j: issue[j])
            else:
                read[i] = max((j for j in stores if time[j] < issue[i]), key=lambda j: time[j], default=None)
    co = {
        (i, j)
        for i, j in product(number, number)
        if is_store[i] and is_store[j] and variable[i] == variable[j] and time[i] < time[j]
    }
    return {
        "po": {(i, j) for i, j in product(number, number) if i < j and process[i] == process[j]},
        "rf": {(j, i) for i, j in read.items() if j is not None},
        "co": co,
        "fr": {
            (i, j)
            for i, seen in read.items()
            for j in number
            if is_store[j] and variable[j] == variable[i] and (seen is None or (seen, j) in co)
        },
    }


def only_accesses(graph: ExecutionGraph, pairs: Pairs) -> Pairs:
    """Pairs of numbers of events as pairs of numbers of accesses."""
    accesses = [node.number for node in graph.nodes if node.event.is_access]
    number = {event: n for n, event in enumerate(accesses)}
    return {(number[a], number[b]) for a, b in pairs}


@given(programs(SHAPE), st.sampled_from(["sc", "tso", "pso"]), st.randoms(use_true_random=False))
@many(150)
def test_the_relations_of_a_run_are_the_defined_ones(program: Program, model: ModelName, random: object) -> None:
    trace = random_run(program, memory_model(model), random, most=14)
    graph = trace_graph(trace).graph
    found = {kind: only_accesses(graph, pairs) for kind, pairs in relations(graph).items()}
    assert found == defined(trace)


@given(programs(SHAPE), st.sampled_from(["tso", "pso"]), st.randoms(use_true_random=False))
@many(80)
def test_a_few_edges_generate_all_others(program: Program, model: ModelName, random: object) -> None:
    graph = trace_graph(random_run(program, memory_model(model), random, most=14)).graph
    every = frozenset((node.number, target) for node in graph.nodes for target, _ in graph.leaving(node.number))
    assert closure(len(graph.nodes), frozenset(graph.generating())) == closure(len(graph.nodes), every)


@given(interleavings(threads=3, addresses=3, most=14))
@many(100)
def test_the_relations_of_a_record_are_program_order_and_conflicts(events: tuple[Recorded, ...]) -> None:
    """Of an SC execution conflicts are ordered as they happen; a load and the store it reads included."""
    graph = recording_graph(as_trace_events(events))
    found = relations(graph)
    assert found["po"] == set(program_order(events))
    conflicts = {(i, j) for i, j in product(range(len(events)), repeat=2) if i < j and conflict(*pair(graph, i, j))}
    assert closure(len(events), frozenset(found["rf"] | found["co"] | found["fr"])) == closure(
        len(events), frozenset(conflicts)
    )
    assert closure(len(events), conflict_order(events)) == closure(len(events), frozenset(conflicts))


def pair(graph: ExecutionGraph, i: int, j: int) -> tuple[Event, Event]:
    return graph.nodes[i].event, graph.nodes[j].event


def test_a_store_and_its_commit_are_one_node() -> None:
    steps = [ProcessStep(0, 0), ProcessStep(0, 1), ProcessStep(1, 0), Commit(0)]
    graph = trace_graph(Trace(store_buffering(), memory_model("tso"), 0, steps)).graph
    shown = [(n.event.thread, n.event.kind, n.event.address, n.event.value, n.step, n.effect) for n in graph.nodes]
    assert shown == [(0, "store", 0, 1, 0, 3), (0, "load", 1, 0, 1, 1), (1, "store", 1, 1, 2, None)]
    assert [node.is_buffered for node in graph.nodes] == [True, False, True]


def test_a_load_that_its_own_buffer_serves_reads_the_newest_pending_store() -> None:
    program = Sample("own", "x").process("P", "x := 1", "x := 2", "r := x").build()
    graph = trace_graph(
        Trace(program, memory_model("tso"), 0, [ProcessStep(0, 0), ProcessStep(0, 1), ProcessStep(0, 2), Commit(0)])
    ).graph
    assert graph.read_from == {2: 1}
    assert graph.is_forwarded(2)


def test_fences_are_events_with_the_order_that_they_stand_for() -> None:
    program = Sample("fences", "x").process("P", "x := 1", "sfence", "mfence").build()
    graph = trace_graph(
        Trace(program, memory_model("tso"), 0, [ProcessStep(0, 0), ProcessStep(0, 1), Commit(0), ProcessStep(0, 2)])
    ).graph
    fences = [(node.event.order.value, node.step) for node in graph.nodes if node.event.kind == "fence"]
    assert fences == [("release", 1), ("seq_cst", 3)]


def test_an_event_of_a_run_knows_its_place() -> None:
    graph = trace_graph(Trace(message_passing(), memory_model("pso"), 0, [ProcessStep(0, 0)])).graph
    (node,) = graph.nodes
    assert node.event.span.text == "data := 1"
    assert node.event.place_text == node.event.span.place


def test_questions_and_initial_values_are_no_part_of_a_record() -> None:
    events = [
        TraceEvent(Event(None, "init", "x", 0)),
        TraceEvent(Event("P", "store", "x", 1)),
        TraceEvent(Event("Q", "wait", "x"), step=4, accepts=(0,)),
        TraceEvent(Event("Q", "store", "x", 2), step=4),
        TraceEvent(Event("Q", "load", "x", 1), step=5),
        TraceEvent(Event("Q", "store", "y", 1), step=5),
    ]
    graph = recording_graph(events)
    assert [(node.event.kind, node.event.address) for node in graph.nodes] == [
        ("store", "x"), ("load", "x"), ("store", "y"),
    ]  # fmt: skip
    assert graph.nodes[1].step == graph.nodes[2].step
    assert graph.read_from == {1: 0}
