"""Where each process stands at the end of a run, and what it waits for: the facts of a deadlock."""

from __future__ import annotations

from memfence.execution.trace import Trace
from memfence.program.ir import Process
from memfence.program.text.steps import step_text
from memfence.records import Record
from memfence.source import NOWHERE, Span


class ProcessAtTheEnd(Record):
    """One process at the end of a run; `waits` goes on from "it": `waits at `go` (line 2)`, `has ended`."""

    name: str
    has_ended: bool
    waits: str
    at: Span | None


def processes_at_the_end(trace: Trace) -> tuple[ProcessAtTheEnd, ...]:
    """Every process at the end of `trace`, in order."""
    return tuple(_at_the_end(trace, number) for number, _ in enumerate(trace.program.processes))


def _at_the_end(trace: Trace, number: int) -> ProcessAtTheEnd:
    process, location = trace.program.processes[number], trace.end.locations[number]
    leaving = [transition for _, transition in process.leaving(location)]
    if not leaving:
        return ProcessAtTheEnd(process.name, True, "has ended", None)
    texts = list(dict.fromkeys(step_text(trace.program, number, transition) for transition in leaving))
    spans = [transition.span for transition in leaving if transition.span.source is not NOWHERE.source]
    at = min(spans, key=lambda span: span.start) if spans else _place(process, location)
    where = "" if at is None else f" (line {at.line})"
    return ProcessAtTheEnd(process.name, False, f"waits at {' or '.join(f'`{text}`' for text in texts)}{where}", at)


def _place(process: Process, location: int) -> Span | None:
    span = process.locations[location].span
    return None if span.source is NOWHERE.source else span
