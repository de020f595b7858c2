"""Schedules as JSON: a run that can be written down, read again and replayed on the same program."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal, TypeVar, assert_never, get_args

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.execution.happens_before import is_sequential
from memfence.execution.trace import Trace, UnreplayableWitness
from memfence.models.replay import nth_start
from memfence.models.spec import SPECS
from memfence.models.state import Commit, DropSeparator, ProcessStep, Rendezvous, State, Step
from memfence.models.steps import successors
from memfence.program.ir import Program
from memfence.records import Record
from memfence.source import SourceText

FindingKind = Literal["assertion failure", "deadlock", "borderline"]
RunKind = Literal["assertion failure", "deadlock", "borderline", "walk"]
"""A `walk` claims nothing: it is a run that somebody chose, or any other that is worth keeping."""
T = TypeVar("T")


class Replayable(Record):
    """What was found, and the run that shows it."""

    kind: RunKind
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
        case ProcessStep(process, transition):
            return {"process": program.processes[process].name, "transition": transition}
        case Rendezvous(sender, receiver):
            partner = program.processes[receiver.process].name
            return {**_step_object(program, sender), "partner": partner, "partner_transition": receiver.transition}
        case Commit(process, buffer):
            named = {"buffer": buffer} if buffer else {}
            return {"process": program.processes[process].name, "commit": True, **named}
        case DropSeparator(process):
            return {"process": program.processes[process].name, "separator": True}
        case _:
            assert_never(step)


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
        kind, model = _chosen(value, "kind", get_args(RunKind)), _chosen(value, "model", tuple(SPECS))
        memory = SPECS[model].definition
        start = nth_start(program, memory, 0)
        registers = [_numbers(row, "registers") for row in _field(value, "registers", list)]
        start = State(
            start.locations, tuple(registers), _numbers(_field(value, "memory", list), "memory"), start.buffers
        )
        _require_shape(program, start)
        steps = [_read_step(program, step) for step in _field(value, "steps", list)]
    except ValueError as error:
        raise _refusal(source, f"the schedule cannot be read: {error}") from None
    try:
        trace = Trace(program, memory, start, steps)
    except UnreplayableWitness as error:
        raise _refusal(source, f"the schedule is not a run of `{program.name}`: {error}") from None
    if kind == "assertion failure" and trace.failure is None:
        raise _refusal(source, f"the run is possible, but `{program.name}` does not fail in it")
    if kind == "deadlock" and not is_deadlock(trace):
        raise _refusal(source, "the run is possible, but some process can go on behind it")
    if kind == "borderline" and memory.buffering.delays_stores and is_sequential(trace):
        raise _refusal(source, "the run is possible, but it has the trace of a sequentially consistent one")
    return Replayable(kind, trace)


def is_deadlock(trace: Trace) -> bool:
    """Whether nobody can go on behind the run, and some process has not reached a place where it may end."""
    program, state = trace.program, trace.end
    if next(successors(program, SPECS[trace.model].definition, state), None) is not None:
        return False
    places = zip(program.processes, state.locations, strict=True)
    return any(not p.locations[at].may_end and next(p.leaving(at), None) is not None for p, at in places)


_KINDS_OF_JSON: dict[type, str] = {list: "a list", int: "a whole number", str: "a text"}


def _field(value: Any, name: str, kind: type[T]) -> T:
    """The entry `name` of an object; ValueError says what is wrong with it."""
    if not isinstance(value, dict):
        raise ValueError(f"{_shown(value)} is no object with `{name}`")
    if name not in value:
        raise ValueError(f"`{name}` is missing")
    found = value[name]
    if not isinstance(found, kind) or isinstance(found, bool):
        raise ValueError(f"`{name}` is {_shown(found)}, not {_KINDS_OF_JSON[kind]}")
    return found


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return f"`{text if len(text) <= 40 else text[:37] + '...'}`"


def _chosen(value: Any, name: str, known: Sequence[str]) -> Any:
    found = _field(value, name, str)
    if found not in known:
        raise ValueError(f"`{name}` is `{found}`, not one of {', '.join(known)}")
    return found


def _numbers(row: Any, name: str) -> tuple[int, ...]:
    if not isinstance(row, list) or not all(type(value) is int for value in row):
        raise ValueError(f"`{name}` has {_shown(row)}, not a list of whole numbers")
    return tuple(row)


def _require_shape(program: Program, start: State) -> None:
    """One value for every variable and register."""
    shape = len(program.variables), [len(process.registers) for process in program.processes]
    if (len(start.memory), [len(row) for row in start.registers]) != shape:
        raise ValueError(f"`memory` or `registers` does not fit the variables of `{program.name}`")


def _read_step(program: Program, value: Any) -> Step:
    process = _process(program, _field(value, "process", str))
    if value.get("commit"):
        return Commit(process, _field(value, "buffer", int) if "buffer" in value else 0)
    if value.get("separator"):
        return DropSeparator(process)
    run = ProcessStep(process, _field(value, "transition", int))
    if "partner" in value:
        partner = _process(program, _field(value, "partner", str))
        return Rendezvous(run, ProcessStep(partner, _field(value, "partner_transition", int)))
    return run


def _process(program: Program, name: str) -> int:
    number = program.process_named(name)
    if number is None:
        raise ValueError(f"there is no process `{name}`")
    return number


def _refusal(source: SourceText, message: str, at: int = 0) -> InputError:
    return InputError([Diagnostic(Code.BAD_SCHEDULE, message, Label(source.span(at, at + 1)))])
