"""Executions that were explored as graphs: which write each read reads from, and why two accesses race."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memfence.binary.places import Names
from memfence.binary.records import GraphEvent, RawFinding
from memfence.binary.steps import ProgramStep
from memfence.questions.run_findings import finding_of
from memfence.questions.run_result import MissingOrder, RunFinding

ATOMIC, ACQUIRE, RELEASE, SEQ_CST = 1, 2, 4, 8
"""Bits of the core (graphs/action.hpp)."""
Key = tuple[int, int]


def order_text(event: GraphEvent) -> str:
    """The memory order as C calls it; nothing for what is not atomic."""
    if not event.order & ATOMIC:
        return ""
    if event.order & SEQ_CST:
        return "seq_cst"
    acquires, releases = bool(event.order & ACQUIRE), bool(event.order & RELEASE)
    return "acq_rel" if acquires and releases else "acquire" if acquires else "release" if releases else "relaxed"


def graph_finding(raw: RawFinding, names: Names) -> RunFinding:
    """What one execution shows, each step with what it reads from."""
    finding = finding_of(raw, names)
    events = {(event.thread, event.number): event for event in raw.graph}
    writers = _writers(finding.steps, events)
    steps = tuple(_with_source(step, events, writers) for step in finding.steps)
    shown = replace(finding, steps=steps, graph=raw.graph)
    return shown if raw.race is None else _race(shown, raw.race, events)


def _writers(steps: tuple[ProgramStep, ...], events: Mapping[Key, GraphEvent]) -> dict[Key, int]:
    """The number of the step that each write is part of. A read-modify-write is one step, and two events."""
    found = {}
    for number, step in enumerate(steps, 1):
        if step.event is None:
            continue
        found[step.thread, step.event] = number
        read = events.get((step.thread, step.event))
        if read is not None and read.kind == "R" and read.is_update:
            found[step.thread, step.event + 1] = number
    return found


def _with_source(step: ProgramStep, events: Mapping[Key, GraphEvent], writers: Mapping[Key, int]) -> ProgramStep:
    event = None if step.event is None else events.get((step.thread, step.event))
    if event is None or step.kind in ("failure", "begin") or step.name is not None:
        return step
    written = events.get((event.thread, event.number + 1)) if event.is_update else None
    order = order_text(event if written is None else replace(event, order=event.order | written.order))
    if event.kind != "R":
        return replace(step, order=order)
    return replace(step, order=order, reads_from=0 if event.source is None else writers.get(event.source))


def _race(finding: RunFinding, race: tuple[Key, Key], events: Mapping[Key, GraphEvent]) -> RunFinding:
    first, second = (_step_of(finding.steps, key, events) for key in race)
    if first is None or second is None:
        return replace(finding, kind="race")
    missing = _missing_order(race, events, finding.steps)
    return replace(
        finding, kind="race", place=second.place, thread=second.thread, race=(first, second), missing=missing
    )


def _step_of(steps: tuple[ProgramStep, ...], key: Key, events: Mapping[Key, GraphEvent]) -> ProgramStep | None:
    found = _writers(steps, events).get(key)
    return None if found is None else steps[found - 1]


def _missing_order(
    race: tuple[Key, Key], events: Mapping[Key, GraphEvent], steps: tuple[ProgramStep, ...]
) -> MissingOrder | None:
    """What the later access has seen of the thread of the earlier one, where that orders nothing."""
    (thread, first), (other, second) = race
    for event in events.values():
        if event.kind != "R" or event.thread != other or event.number > second or event.source is None:
            continue
        writer = events.get(event.source)
        if writer is None or writer.thread != thread or writer.number <= first:
            continue
        read, write = _step_of(steps, (other, event.number), events), _step_of(steps, event.source, events)
        if read is None or write is None or not event.order & writer.order & ATOMIC:
            continue
        if not (writer.order & RELEASE and event.order & ACQUIRE):
            return MissingOrder(write, read, event.value, not writer.order & RELEASE)
    return None
