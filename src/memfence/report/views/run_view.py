"""A replayed run as data for the stepper of the HTML report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memfence.execution.occurrences import occurrences, transition_of
from memfence.execution.overtaking import overtaken_pairs
from memfence.execution.trace import Trace
from memfence.models.accesses import Access, accesses
from memfence.models.state import Commit, DropSeparator, ProcessStep, Rendezvous, State
from memfence.program.facts.effects import stored_variables
from memfence.program.ir import Process
from memfence.report.page import AccessView, ActionView, Overtaking, Pending, RunView, StepView
from memfence.report.views.shown_run import is_shown_variable, register_text, shown_positions, shown_processes
from memfence.report.words.actions import Action, actions
from memfence.source import NOWHERE, SourceText

Issued = list[list[list[int]]]


def run_view(trace: Trace, sources: Sequence[SourceText], loop_start: int | None = None) -> RunView:
    """Every state of the run; places are given as numbers in `sources`."""
    program = trace.program
    pairs = overtaken_pairs(trace)
    overtaken = tuple(
        Overtaking(
            pair.store.access.process,
            pair.store.position + 1,
            pair.by.position + 1,
            None if pair.commit is None else pair.commit.position + 1,
        )
        for pair in pairs
    )
    issued: Issued = [[[] for _ in buffers] for buffers in trace.start.buffers]
    steps = [_state_view(trace, trace.start, issued, "start", (), ())]
    important = set(shown_positions(trace))
    for position in range(len(trace.steps)):
        _follow(issued, trace, position)
        step = _step_view(trace, position, issued, sources, overtaken)
        steps.append(step if position in important else replace(step, minor=True))
    accessed = {event.access.variable for event in occurrences(trace)}
    return RunView(
        model=trace.model,
        processes=tuple(p.name for p in program.processes),
        variables=tuple(v.name for v in program.variables),
        shown=tuple(n for n, _ in enumerate(program.variables) if n in accessed and is_shown_variable(program, n)),
        acting=shown_processes(trace),
        bookkeeping=tuple(n for n, _ in enumerate(program.variables) if not is_shown_variable(program, n)),
        value_names=tuple(program.value_names.items()),
        buffer_names=tuple(_buffer_names(trace, number) for number, _ in enumerate(program.processes)),
        steps=tuple(steps),
        overtaken=tuple(dict.fromkeys(overtaken)),
        loop_start=loop_start,
    )


def _buffer_names(trace: Trace, process: int) -> tuple[str, ...]:
    buffers = trace.start.buffers[process]
    if len(buffers) <= 1:
        return ("",) * len(buffers)
    stored = stored_variables(trace.program.processes[process])
    return tuple(trace.program.variables[variable].name for variable in stored)


def _follow(issued: Issued, trace: Trace, position: int) -> None:
    """Remember beside every pending store which step issued it."""
    before, taken = trace.state_before(position), trace.steps[position]
    for process, buffers in enumerate(taken.state.buffers):
        for number, buffer in enumerate(buffers):
            mine = issued[process][number]
            added = len(buffer) - len(before.buffers[process][number])
            mine += [position + 1] * added
            if added < 0:
                del mine[: len(mine) - len(buffer)]


def _step_view(
    trace: Trace, position: int, issued: Issued, sources: Sequence[SourceText], overtaken: Sequence[Overtaking]
) -> StepView:
    taken = trace.steps[position]
    seen = tuple(
        AccessView(a.kind, a.process, a.variable, a.value, _overtakes(overtaken, a, position + 1))
        for a in accesses(trace.program, trace.memory_model, trace.state_before(position), taken.step)
    )
    doing = tuple(
        _action(trace, position, process, action, sources) for process, action in actions(trace, position).items()
    )
    failure = None if taken.failure is None else taken.failure.reason
    return _state_view(trace, taken.state, issued, _kind(trace, position), doing, seen, failure)


def _overtakes(overtaken: Sequence[Overtaking], access: Access, step: int) -> tuple[int, ...]:
    if access.kind not in ("load", "commit"):
        return ()
    return tuple(dict.fromkeys(o.store for o in overtaken if (o.process, o.by) == (access.process, step)))


def _kind(trace: Trace, position: int) -> str:
    match trace.steps[position].step:
        case ProcessStep():
            return "run"
        case Rendezvous():
            return "rendezvous"
        case Commit():
            return "commit"
        case DropSeparator():
            return "separator"


def _action(trace: Trace, position: int, process: int, action: Action, sources: Sequence[SourceText]) -> ActionView:
    transition = transition_of(trace, position, process)
    if transition is None or transition.span.source is NOWHERE.source:
        return ActionView(process, action.line)
    span = transition.span
    first_line = span.source.line_text(span.line)
    last = min(len(first_line), span.column - 1 + span.end - span.start)
    calls = action.place.rpartition("→")[0]
    return ActionView(
        process, action.text, action.values, sources.index(span.source), span.line, span.column - 1, last, calls
    )


def place_name(process: Process, at: int) -> str:
    """Where a process stands, as its author would say it: a label, the line of what comes next, or its end."""
    if process.locations[at].labels:
        return process.locations[at].labels[0]
    spans = [t.span for _, t in process.leaving(at)]
    if not spans:
        return "ended"
    lines = [span.line for span in spans if span.source is not NOWHERE.source]
    return f"before line {min(lines)}" if lines else ""


def _state_view(
    trace: Trace,
    state: State,
    issued: Issued,
    kind: str,
    doing: tuple[ActionView, ...],
    seen: tuple[AccessView, ...],
    failure: str | None = None,
) -> StepView:
    processes = trace.program.processes
    return StepView(
        kind=kind,
        actions=doing,
        accesses=seen,
        memory=state.memory,
        buffers=tuple(
            tuple(
                tuple(
                    Pending(None, 0, at) if entry is None else Pending(entry[0], entry[1], at)
                    for entry, at in zip(buffer, times, strict=True)
                )
                for buffer, times in zip(buffers, theirs, strict=True)
            )
            for buffers, theirs in zip(state.buffers, issued, strict=True)
        ),
        registers=tuple(
            tuple(
                (name, value)
                for r, value in zip(p.registers, values, strict=True)
                if not r.transient and (name := register_text(trace.program, r.name)) is not None
            )
            for p, values in zip(processes, state.registers, strict=True)
        ),
        locations=tuple(place_name(p, at) for p, at in zip(processes, state.locations, strict=True)),
        failure=failure,
    )
