"""A run as a SARIF code flow: one thread flow per process, steps ordered across threads by `executionOrder`."""

from __future__ import annotations

from typing import Any

from memfence.execution.occurrences import occurrences, transition_of
from memfence.execution.trace import Trace
from memfence.report.formats.sarif import place
from memfence.report.views.shown_run import is_shown_variable, shown_positions, value_text
from memfence.report.words.actions import actions, buffer_text
from memfence.report.words.essential_places import essential_events
from memfence.source import NOWHERE

Object = dict[str, Any]


def code_flow(trace: Trace) -> Object:
    """Every step of the run in the flow of its process; what memory and the buffers hold then is its `state`."""
    flows: dict[int, list[Object]] = {}
    essential = {event.position for event, _ in essential_events(trace)}
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


def _state(trace: Trace, position: int, accessed: set[int]) -> Object:
    state = trace.steps[position].state
    program = trace.program
    shown = {program.variables[n].name: {"text": value_text(program, n, state.memory[n])} for n in sorted(accessed)}
    for number, process in enumerate(trace.program.processes):
        pending = buffer_text(trace.program, state, number)
        if pending:
            shown[f"buffer of {process.name}"] = {"text": pending}
    return shown
