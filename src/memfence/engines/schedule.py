"""Schedules as JSON: a run that can be written down, read again and replayed on the same program."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, get_args

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.engines.borderline import is_sequential
from memfence.engines.trace import Trace, UnreplayableWitness
from memfence.models import memory_model
from memfence.models.replay import nth_start
from memfence.models.state import Commit, Rendezvous, Run, State, Step
from memfence.program.ir import Program
from memfence.source import SourceText

FindingKind = Literal["assertion failure", "borderline"]


@dataclass(frozen=True, slots=True)
class Replayable:
    """What was found, and the run that shows it: SC for a failure, TSO for a borderline execution."""

    kind: FindingKind
    trace: Trace


def schedule_object(found: Replayable) -> dict[str, Any]:
    """The run as JSON: where it starts and who does what."""
    trace = found.trace
    return {
        "kind": found.kind,
        "model": trace.model,
        "memory": list(trace.start.memory),
        "registers": [list(values) for values in trace.start.registers],
        "steps": [_step_object(trace.program, taken.step) for taken in trace.steps],
    }


def _step_object(program: Program, step: Step) -> dict[str, Any]:
    match step:
        case Run(process, transition):
            return {"process": program.processes[process].name, "transition": transition}
        case Rendezvous(sender, receiver):
            partner = program.processes[receiver.process].name
            return {**_step_object(program, sender), "partner": partner, "partner_transition": receiver.transition}
        case Commit(process):
            return {"process": program.processes[process].name, "commit": True}
        case _:
            raise AssertionError(step)


def read_schedules(program: Program, source: SourceText) -> tuple[Replayable, ...]:
    """The runs written down in `source`, replayed on `program`. MF303 if one is not a run of it.

    A single schedule, or an object with several under `findings` (as `explore --json` prints it).
    """
    try:
        value = json.loads(source.text)
    except (ValueError, RecursionError) as error:
        raise _refusal(source, f"this is not JSON: {error}", getattr(error, "pos", 0)) from None
    listed = value.get("findings", [value]) if isinstance(value, dict) else None
    if not isinstance(listed, list) or not listed:
        raise _refusal(source, "there is no schedule in this file")
    return tuple(_read(program, source, one) for one in listed)


def _read(program: Program, source: SourceText, value: Any) -> Replayable:
    value = value.get("schedule", value) if isinstance(value, dict) else value
    try:
        kind, model = value["kind"], value["model"]
        if kind not in get_args(FindingKind) or model not in ("sc", "tso"):
            raise ValueError(f"kind `{kind}`, model `{model}`")
        memory = memory_model(model)
        start = nth_start(program, memory, 0)
        start = State(start.locations, _numbers(value["registers"]), _numbers([value["memory"]])[0], start.buffers)
        steps = [_read_step(program, step) for step in value["steps"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _refusal(source, f"the schedule cannot be read: {type(error).__name__}: {error}") from None
    try:
        trace = Trace(program, memory, start, steps)
    except (UnreplayableWitness, ValueError, IndexError) as error:
        raise _refusal(source, f"the schedule is not a run of `{program.name}`: {error}") from None
    if kind == "assertion failure" and trace.failure is None:
        raise _refusal(source, f"the run is possible, but `{program.name}` does not fail in it")
    if kind == "borderline" and model == "tso" and is_sequential(trace):
        raise _refusal(source, "the run is possible, but it has the trace of a sequentially consistent one")
    return Replayable(kind, trace)


def _numbers(rows: Any) -> tuple[tuple[int, ...], ...]:
    found = tuple(tuple(row) for row in rows)
    if not all(type(value) is int for row in found for value in row):
        raise ValueError("a value is not a whole number")
    return found


def _read_step(program: Program, value: Any) -> Step:
    process = _process(program, value["process"])
    if value.get("commit"):
        return Commit(process)
    run = Run(process, _whole(value["transition"]))
    if "partner" in value:
        return Rendezvous(run, Run(_process(program, value["partner"]), _whole(value["partner_transition"])))
    return run


def _process(program: Program, name: Any) -> int:
    number = program.process_named(name) if isinstance(name, str) else None
    if number is None:
        raise ValueError(f"there is no process `{name}`")
    return number


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"`{value}` is not the number of a transition")
    return value


def _refusal(source: SourceText, message: str, at: int = 0) -> InputError:
    return InputError([Diagnostic(Code.BAD_SCHEDULE, message, Label(source.span(at, at + 1)))])
