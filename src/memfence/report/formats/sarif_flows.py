"""A run as a SARIF code flow: one thread flow a process, steps ordered across threads by `executionOrder`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memfence.execution.occurrences import Occurrence, occurrences, transition_of
from memfence.execution.overtaking import explain
from memfence.execution.trace import Trace
from memfence.report.formats.sarif_places import place
from memfence.report.views.shown_run import is_shown_variable, shown_positions, value_text
from memfence.report.words.actions import actions, buffer_text
from memfence.source import NOWHERE, Span

Object = dict[str, Any]


def code_flow(trace: Trace) -> Object:
    """Every step of the run in the flow of its process; what memory and the buffers hold then is its `state`."""
    flows: dict[int, list[Object]] = {}
    essential = {event.position for event, _ in _essential_events(trace)}
    happened = occurrences(trace)
    accessed = {v for v in {event.access.variable for event in happened} if is_shown_variable(trace.program, v)}
    spans = {event.position: event.span for event in happened}
    for position in shown_positions(trace):
        for process, action in actions(trace, position).items():
            transition = transition_of(trace, position, process)
            # A commit is shown at the store that it completes.
            span = spans.get(position, NOWHERE) if transition is None else transition.span
            flows.setdefault(process, []).append(
                {
                    "location": {**place(span), "message": {"text": action.line}},
                    "executionOrder": position + 1,
                    "importance": "essential" if position in essential else "important",
                    "state": _state(trace, position, accessed),
                }
            )
    names = trace.program.processes
    return {
        "message": {"text": f"a run of {len(trace.steps)} steps, replayed under {trace.model}"},
        "threadFlows": [
            {"id": names[process].name, "locations": steps} for process, steps in sorted(flows.items())
        ]
        or [{"id": names[0].name, "locations": [{"location": {"message": {"text": "the initial state"}}}]}],
    }  # fmt: skip


def essential_places(trace: Trace) -> list[tuple[Span, str]]:
    """What matters first: the store that is overtaken, else the step that fails or the last one. Then the others: what
    overtakes it, who noticed, and what fails because of it. Each place once."""
    found = [(event.span, text) for event, text in _essential_events(trace) if event.span.source is not NOWHERE.source]
    found += _last_place(trace) if trace.failure is not None or not found else []
    return list({(span.source.path, span.start, span.end): (span, text) for span, text in reversed(found)}.values())[
        ::-1
    ]


def _last_place(trace: Trace) -> list[tuple[Span, str]]:
    for position in reversed(range(len(trace.steps))):
        for process in actions(trace, position):
            transition = transition_of(trace, position, process)
            if transition is not None and transition.span.source is not NOWHERE.source:
                return [(transition.span, "this fails" if trace.failure is not None else "the last step of the run")]
    return []


def _essential_events(trace: Trace) -> Iterator[tuple[Occurrence, str]]:
    why = explain(trace) if trace.steps else None
    if why is None:
        return
    yield why.pair.store, "this store is overtaken: it was still in the store buffer"
    yield why.pair.by if why.pair.issued is None else why.pair.issued, "this access takes effect before the store"
    if why.hidden_from is not None:
        yield why.hidden_from, "this read does not see the store"
    if why.missed is not None:
        yield why.missed, "this write comes too late to be read"


def _state(trace: Trace, position: int, accessed: set[int]) -> Object:
    state = trace.steps[position].state
    program = trace.program
    shown = {program.variables[n].name: {"text": value_text(program, n, state.memory[n])} for n in sorted(accessed)}
    for number, process in enumerate(trace.program.processes):
        pending = buffer_text(trace.program, state, number)
        if pending:
            shown[f"buffer of {process.name}"] = {"text": pending}
    return shown
