"""A run of a model as an execution graph."""

from __future__ import annotations

from collections.abc import Mapping

from memfence.execution.event import Event, EventKind
from memfence.execution.graph import ExecutionGraph, GraphBuilder
from memfence.execution.occurrences import Occurrence, occurrences, runs_of
from memfence.execution.trace import Trace
from memfence.models.readings import is_locked
from memfence.program.facts.effects import accesses_memory
from memfence.program.ir import Fence, Transition, WrittenFence
from memfence.program.orders import MemoryOrder
from memfence.records import Record

ORDER_OF_FENCE: dict[WrittenFence, MemoryOrder] = {"mfence": MemoryOrder.SEQ_CST, "sfence": MemoryOrder.RELEASE}


class TraceGraph(Record):
    """The graph of a run; a step is a position in the run.

    `issued` and `committed` say, by number, which accesses of the run an event stands for. A fence that shares a step
    with accesses stands before or behind all of them.
    """

    graph: ExecutionGraph
    issued: Mapping[int, Occurrence]
    committed: Mapping[int, Occurrence]


def trace_graph(trace: Trace) -> TraceGraph:
    """The events of the run: its accesses, its fences, and `sync` for both sides of a rendezvous."""
    return _Collector(trace).collect()


class _Collector:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.builder = GraphBuilder()
        self.issued: dict[int, Occurrence] = {}
        self.committed: dict[int, Occurrence] = {}

    def collect(self) -> TraceGraph:
        by_step: dict[int, list[Occurrence]] = {}
        for occurrence in occurrences(self.trace):
            by_step.setdefault(occurrence.position, []).append(occurrence)
        for position in range(len(self.trace.steps)):
            self._add_markers(position, before=True)
            for occurrence in by_step.get(position, ()):
                self._add_access(occurrence)
            self._add_markers(position, before=False)
        return TraceGraph(self.builder.build(), self.issued, self.committed)

    def _add_markers(self, position: int, *, before: bool) -> None:
        runs = runs_of(self.trace.steps[position].step)
        for run in runs:
            transition = self.trace.program.processes[run.process].transitions[run.transition]
            if before and len(runs) > 1:
                self.builder.add(Event(run.process, "sync", place=transition.span), position)
            for fence in _fences(transition, before):
                order = ORDER_OF_FENCE.get(fence.kind, fence.order)
                self.builder.add(Event(run.process, "fence", order=order, place=transition.span), position)

    def _add_access(self, occurrence: Occurrence) -> None:
        access, position = occurrence.access, occurrence.position
        pending = self.builder.pending(access.process, access.variable)
        match access.kind:
            case "load":
                number = self.builder.add(self._event("load", occurrence), position)
            case "own load":
                number = self.builder.add_read(self._event("load", occurrence), position, pending[-1])
            case "store":
                number = self.builder.add(self._event("store", occurrence), position)
            case "pending store":
                number = self.builder.add(self._event("store", occurrence), position, buffered=True)
            case "commit":
                self.builder.commit(pending[0], position)
                self.committed[pending[0]] = occurrence
                return
        self.issued[number] = occurrence

    def _event(self, kind: EventKind, occurrence: Occurrence) -> Event:
        access, process = occurrence.access, self.trace.program.processes[occurrence.access.process]
        locked = any(
            is_locked(self.trace.memory_model, process.transitions[run.transition])
            for run in runs_of(self.trace.steps[occurrence.position].step)
            if run.process == access.process
        )
        order = MemoryOrder.SEQ_CST if locked else MemoryOrder.PLAIN
        return Event(access.process, kind, access.variable, access.value, order, occurrence.span)


def _fences(transition: Transition, before: bool) -> list[Fence]:
    """The fences of the transition that stand before its first access, or the others."""
    accesses = [number for number, op in enumerate(transition.ops) if accesses_memory(op)]
    first = accesses[0] if accesses else len(transition.ops)
    return [op for number, op in enumerate(transition.ops) if isinstance(op, Fence) and (number < first) == before]
