"""What `--json` prints of a check, and of its parts that other verbs print, too: runs, states, warnings."""

from __future__ import annotations

from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.execution.trace import Trace, TraceStep
from memfence.models.state import Buffer, Commit, DropSeparator, ProcessStep, Rendezvous, State
from memfence.program.ir import Final, Program
from memfence.program.text.steps import step_text
from memfence.report.describe.check_text import is_shortest
from memfence.report.formats.json import Object
from memfence.report.views.shown_run import register_text
from memfence.report.words.coverage import assumptions
from memfence.report.words.essential_places import essential_places
from memfence.report.words.findings import finding_text
from memfence.report.words.model_name import model_object
from memfence.report.words.properties import criterion_name, formula_text, property_line
from memfence.report.words.reason import reasons
from memfence.report.words.sentences import advice_text, detail_lines, limit_text, scope_text
from memfence.report.words.vacuity import warnings_of
from memfence.source import NOWHERE, Span
from memfence.tasks.result import CheckResult


def check_object(result: CheckResult) -> Object:
    """`memfence check --json`, before it becomes text."""
    stats = result.stats
    return {
        "file": result.program.source.path,
        **model_object(result),
        "criterion": criterion_name(result.criterion, result.properties),
        "formula": formula_text(result),
        "verdict": result.verdict.value,
        "bound": result.bound,
        "engine": result.engine,
        "property": property_line(result),
        "finding": finding_text(result),
        "scope": scope_text(result),
        "notes": list(result.program.notes),
        "assumptions": list(assumptions(result.program, result.model)),
        **reading_object(result.program),
        "limit": limit_text(result),
        "advice": advice_text(result),
        "details": list(detail_lines(result)),
        "warnings": [diagnostic_object(warning) for warning in warnings_of(result)],
        "trace": None if result.trace is None else trace_list(result.trace),
        "start": None if result.trace is None else state_object(result.trace.program, result.trace.start),
        "shortest": None if result.trace is None else is_shortest(result),
        "loop_start": None if result.loop_start is None else result.loop_start + 1,
        "why": list(reasons(result)),
        "places": []
        if result.trace is None
        else [{**_place(span), "label": text} for span, text in essential_places(result.trace)],
        "states": _final_states(result),
        "stats": {
            "states": stats.states,
            "transitions": stats.transitions,
            "seconds": round(stats.seconds, 6),
            "peak_mb": round(stats.peak_mb, 3),
            **dict(stats.extra),
        },
    }


def reading_object(program: Program) -> Object:
    """What counts as failing: `c` or `sv-comp`, and what --allow makes a normal end."""
    reading = program.reading
    return {"reading": reading and reading.name, "allow": [] if reading is None else list(reading.allowed)}


def error_object(error: InputError) -> Object:
    """What `--json` prints instead of a result where the input cannot be used."""
    return {
        "error": "; ".join(d.message for d in error.diagnostics),
        "diagnostics": [diagnostic_object(d) for d in error.diagnostics],
    }


def trace_list(trace: Trace) -> list[Object]:
    """Every step of the run with the state after it."""
    return [_step_object(trace.program, number, taken) for number, taken in enumerate(trace.steps, 1)]


def _step_object(program: Program, number: int, taken: TraceStep) -> Object:
    kind, runs, process = _shape(taken)
    spans = [program.processes[run.process].transitions[run.transition].span for run in runs]
    texts = [step_text(program, r.process, program.processes[r.process].transitions[r.transition]) for r in runs]
    place = spans[0] if spans else NOWHERE
    return {
        "step": number,
        "process": program.processes[process].name,
        "kind": kind,
        **({"partner": program.processes[runs[1].process].name} if len(runs) == 2 else {}),
        "file": None if place.source is NOWHERE.source else place.source.path,
        "line": None if place.source is NOWHERE.source else place.line,
        **_calls(program, runs),
        "text": " / ".join(texts) if texts else kind.replace("_", " "),
        "failure": None if taken.failure is None else taken.failure.reason,
        **state_object(program, taken.state),
    }


def _calls(program: Program, runs: tuple[ProcessStep, ...]) -> Object:
    """The calls that lead to the step, outermost first; no key where there is none."""
    calls = [call for run in runs for call in program.processes[run.process].transitions[run.transition].calls]
    places = [{"file": call.source.path, "line": call.line} for call in calls if call.source is not NOWHERE.source]
    return {"calls": places} if places else {}


def _shape(taken: TraceStep) -> tuple[str, tuple[ProcessStep, ...], int]:
    match taken.step:
        case ProcessStep() as run:
            return "run", (run,), run.process
        case Rendezvous(sender, receiver):
            return "rendezvous", (sender, receiver), sender.process
        case Commit(process):
            return "commit", (), process
        case DropSeparator(process):
            return "drop_separator", (), process


def state_object(program: Program, state: State) -> Object:
    processes = list(zip(program.processes, state.locations, state.registers, state.buffers, strict=True))
    memory = zip(program.variables, state.memory, strict=True)
    return {
        "memory": {v.name: value for v, value in memory if not v.is_bookkeeping},
        "buffers": {p.name: _entries(program, buffers) for p, _, _, buffers in processes},
        "registers": {
            p.name: {
                name: value
                for r, value in zip(p.registers, values, strict=True)
                if not r.transient and (name := register_text(program, r.name)) is not None
            }
            for p, _, values, _ in processes
        },
        "locations": {p.name: p.locations[at].name for p, at, _, _ in processes},
    }


def _entries(program: Program, buffers: tuple[Buffer, ...]) -> list[Object]:
    """Pending stores, oldest first; under PSO buffer by buffer, where a separator shows as `{"separator": true}`."""
    return [
        {"separator": True} if entry is None else {"variable": program.variables[entry[0]].name, "value": entry[1]}
        for buffer in buffers
        for entry in buffer
    ]


def _final_states(result: CheckResult) -> list[Object] | None:
    """Every final state, by the names that the program's condition observes."""
    if result.final_states is None:
        return None
    condition = next((p for p in result.program.properties if isinstance(p, Final)), None)
    names = [name for name, _ in condition.observed] if condition else []
    return [{"values": dict(zip(names, values, strict=False)), "count": n} for values, n in result.final_states]


def diagnostic_object(diagnostic: Diagnostic) -> Object:
    """An error or a warning: code, message, place, related places, something to type."""
    return {
        "code": diagnostic.code.id,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **_place(diagnostic.at.span),
        "label": diagnostic.at.text,
        "related": [_related(label) for label in diagnostic.related],
        "hint": diagnostic.hint,
    }


def _related(label: Label) -> Object:
    return {**_place(label.span), "label": label.text}


def _place(span: Span) -> Object:
    return {
        "file": span.source.path,
        "line": span.line,
        "column": span.column,
        "length": max(1, span.end - span.start),
    }
