"""What a process does in a step of a run: where, what, and which values it sees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from memfence.execution.trace import Trace
from memfence.models.accesses import accesses
from memfence.models.state import Commit, DropSeparator, ProcessStep, Rendezvous, State
from memfence.program.ir import Load, Program, Rmw
from memfence.records import Record
from memfence.report.views.shown_run import equation, is_c, is_shown_variable, place, register_text, shown_text


class Action(Record):
    """`12: flag[0] = 1 [r=0]`, in its parts; a commit has only `text`."""

    text: str
    place: str = ""
    values: str = ""
    failure: str = ""

    @property
    def line(self) -> str:
        """All of it on one line."""
        if self.failure:
            return f"{self.place}{self.text} !! {self.failure}"
        return f"{self.place}{self.text}{f' [{self.values}]' if self.values else ''}"


def actions(trace: Trace, position: int) -> dict[int, Action]:
    """What each process that takes part in the step does: `12: flag[0] = 1 [r=0]`, `commit x=1`."""
    taken, before = trace.steps[position], trace.state_before(position)
    match taken.step:
        case ProcessStep(process, _) as run:
            return {process: _run(trace, position, run)}
        case Rendezvous(sender, receiver):
            sides = {run.process: _run(trace, position, run) for run in (sender, receiver)}
            return dict(sorted(sides.items()))
        case Commit(process):
            (access,) = accesses(trace.program, trace.memory_model, before, taken.step)
            return {process: Action(f"commit {equation(trace.program, access.variable, access.value)}")}
        case DropSeparator(process):
            return {process: Action("sfence takes effect")}
        case _:
            assert_never(taken.step)


def _run(trace: Trace, position: int, run: ProcessStep) -> Action:
    process = trace.program.processes[run.process]
    transition = process.transitions[run.transition]
    where, text = place(trace.program, transition), shown_text(trace.program, run.process, transition)
    failure = trace.steps[position].failure
    if failure is not None:
        return Action(text, where, failure=failure.reason)
    if transition.locked and len(transition.ops) > 1 and not is_c(trace.program):
        return Action(text, where, _atomic_values(trace, position, run))
    return Action(text, where, " ".join(dict.fromkeys(_new_values(trace, position, run))))


def _atomic_values(trace: Trace, position: int, run: ProcessStep) -> str:
    """What an atomic step read and wrote: `atomic: read x=1; wrote y=2`."""
    program = trace.program
    seen = [
        access
        for access in accesses(program, trace.memory_model, trace.state_before(position), trace.steps[position].step)
        if access.process == run.process
    ]
    read = [equation(program, a.variable, a.value) for a in seen if a.kind in ("load", "own load")]
    wrote = [equation(program, a.variable, a.value) for a in seen if a.kind not in ("load", "own load")]
    parts = [f"read {', '.join(dict.fromkeys(read))}"] if read else []
    parts += [f"wrote {', '.join(wrote)}"] if wrote else []
    return f"atomic: {'; '.join(parts)}" if parts else ""


def _new_values(trace: Trace, position: int, run: ProcessStep) -> Iterator[str]:
    """What the step read, and what else it did to registers; a value read without a register goes by its variable."""
    program, before, after = trace.program, trace.state_before(position), trace.steps[position].state
    process = program.processes[run.process]
    loaded = {op.register for op in process.transitions[run.transition].ops if isinstance(op, Load | Rmw)}
    if is_c(program) or any(register is None or process.registers[register].transient for register in loaded):
        for access in accesses(program, trace.memory_model, before, trace.steps[position].step):
            is_load = access.process == run.process and access.kind in ("load", "own load")
            if is_load and is_shown_variable(program, access.variable):
                yield equation(program, access.variable, access.value)
    for number, register in enumerate(process.registers):
        old, new = before.registers[run.process][number], after.registers[run.process][number]
        name = register_text(program, register.name)
        if name is not None and not register.transient and (old != new or number in loaded):
            yield f"{name}={program.value_names.get(new) or register.domain.text(new)}"


def buffer_text(program: Program, state: State, process: int) -> str:
    """The pending stores of the process, oldest first (under PSO: variable by variable); `|` is a separator."""
    shown = []
    for buffer in state.buffers[process]:
        for entry in buffer:
            if entry is None or not program.variables[entry[0]].is_internal:
                shown.append("|" if entry is None else equation(program, *entry))
    return " ".join(shown)
