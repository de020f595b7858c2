"""A run as a table people can follow: who did what, what memory holds then, what still sits in which buffer.

Three layouts, from the clearest to the narrowest; the first that fits is taken, and what it leaves out is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

from memfence.execution.occurrences import occurrences
from memfence.execution.trace import Trace
from memfence.models.accesses import accesses
from memfence.models.state import Commit, DropSeparator, Rendezvous, Run, State
from memfence.program.ir import Load, Program, Rmw
from memfence.program.text.steps import step_text
from memfence.reports.table import Column, render_table, wrap
from memfence.source import NOWHERE, Span

FEW_VARIABLES = 8
NARROWEST = 60


def run_table(trace: Trace, width: int, loop_start: int | None = None) -> str:
    """The table of the run, at most `width` wide (but never narrower than a table can be).

    `loop_start`: the run is a lasso, whose steps from there on (counted from 0) repeat; `>` marks the first of them.
    """
    numbers = [f"{'>' if position == loop_start else ''}{position + 1}" for position in range(len(trace.steps))]
    layouts: list[Callable[[Trace, int, list[str]], str | None]] = [_wide, _medium, _narrow]
    for layout in layouts:
        table = layout(trace, max(width, NARROWEST), numbers)
        if table is not None:
            break
    else:
        table = "\n".join(_wrap_all(list(_plain_lines(trace, numbers)), max(width, NARROWEST)))
    return "\n".join([table, *_wrap_all(_goes_on(trace, loop_start), max(width, NARROWEST))])


def _goes_on(trace: Trace, loop_start: int | None) -> list[str]:
    count = len(trace.steps)
    if loop_start is None:
        return []
    if loop_start == count:
        return ["Then nothing can happen any more."]
    return [
        f"Step {count} repeats for ever."
        if loop_start + 1 == count
        else f"Steps {loop_start + 1} to {count} repeat for ever."
    ]


def _wide(trace: Trace, width: int, numbers: list[str]) -> str | None:
    """A column a process, every variable that the run accesses, a column a buffer."""
    shown = _accessed(trace)
    if len(shown) > FEW_VARIABLES:
        return None
    processes = trace.program.processes
    buffered = [p for p, _ in enumerate(processes) if _ever_pending(trace, p)]
    columns = [Column("step", 4, align_right=True), *(Column(p.name, 16) for p in processes), Column("memory", width)]
    columns += [Column(f"buffer {processes[p].name}", 12) for p in buffered]
    rows = [["", *("" for _ in processes), _memory(trace, None, shown), *("" for _ in buffered)]]
    for position in range(len(trace.steps)):
        cells = actions(trace, position)
        row = [numbers[position], *(cells.get(p, "") for p, _ in enumerate(processes))]
        row += [_memory(trace, position, shown), *(_buffer_cell(trace, position, p) for p in buffered)]
        rows.append(row)
    table = render_table(columns, rows, width)
    return table and "\n".join([table, *_wrap_all(_never_accessed(trace, shown), width)])


def _accessed(trace: Trace) -> list[int]:
    """The variables that the run reads or writes, and those that its stores still wait for."""
    found = {event.access.variable for event in occurrences(trace)}
    return [number for number, _ in enumerate(trace.program.variables) if number in found]


def _wrap_all(texts: list[str], width: int) -> list[str]:
    return [line for text in texts for line in wrap(text, width)]


def _never_accessed(trace: Trace, shown: list[int]) -> list[str]:
    others = [n for n, _ in enumerate(trace.program.variables) if n not in shown]
    named = [named_value(trace.program, n, trace.start.memory[n]) for n in others[:FEW_VARIABLES]]
    more = [f"{len(others) - FEW_VARIABLES} more"] if len(others) > FEW_VARIABLES else []
    return [f"(not accessed in this run: {' '.join([*named, *more])})"] if others else []


def _medium(trace: Trace, width: int, numbers: list[str]) -> str | None:
    """A column a process, what changed in memory, one column for all buffers."""
    processes = trace.program.processes
    columns = [Column("step", 4, align_right=True), *(Column(p.name, 14) for p in processes)]
    columns += [Column("memory changed", 8), *_buffer_column(trace)]
    rows = []
    for position in range(len(trace.steps)):
        cells = actions(trace, position)
        row = [numbers[position], *(cells.get(p, "") for p, _ in enumerate(processes)), changed_memory(trace, position)]
        rows.append(row + _all_buffers(trace, position))
    return _with_initial(trace, render_table(columns, rows, width), width)


def _narrow(trace: Trace, width: int, numbers: list[str]) -> str | None:
    """One column says who, one what."""
    columns = [Column("step", 4, align_right=True), Column("process", 6), Column("does", 16)]
    columns += [Column("memory changed", 8), *_buffer_column(trace)]
    rows = []
    for position in range(len(trace.steps)):
        number = numbers[position]
        for process, text in actions(trace, position).items():
            row = [
                number,
                trace.program.processes[process].name,
                text,
                changed_memory(trace, position) if number else "",
            ]
            rows.append(row + (_all_buffers(trace, position) if number else ["" for _ in columns[4:]]))
            number = ""
    table = render_table(columns, rows, width)
    note = f"(one column for all {len(trace.program.processes)} processes: a wider terminal shows one each)"
    return _with_initial(trace, table and "\n".join([table, *wrap(note, width)]), width)


def _plain_lines(trace: Trace, numbers: list[str]) -> Iterator[str]:
    for position in range(len(trace.steps)):
        for process, text in actions(trace, position).items():
            yield f"{numbers[position]}. {trace.program.processes[process].name}: {text}"


def _buffer_column(trace: Trace) -> list[Column]:
    pending = any(_ever_pending(trace, p) for p, _ in enumerate(trace.program.processes))
    return [Column("buffers", 8)] if pending else []


def _with_initial(trace: Trace, table: str | None, width: int) -> str | None:
    if table is None:
        return None
    variables = zip(trace.program.variables, trace.start.memory, strict=True)
    others = [f"{v.name}={value}" for v, value in variables if value != 0]
    rest = "everything else is 0" if others else "all of memory is 0"
    shown = others if len(others) <= FEW_VARIABLES else [*others[:FEW_VARIABLES], f"{len(others) - FEW_VARIABLES} more"]
    return "\n".join([*wrap(f"At the start {', '.join([*shown, rest])}.", width), table])


def actions(trace: Trace, position: int) -> dict[int, str]:
    """What each process that takes part in the step does: `12: flag[0] = 1 [r=0]`, `commit x=1`."""
    taken, before = trace.steps[position], trace.state_before(position)
    match taken.step:
        case Run(process, _) as run:
            return {process: _run_text(trace, position, run)}
        case Rendezvous(sender, receiver):
            sides = {run.process: _run_text(trace, position, run) for run in (sender, receiver)}
            return dict(sorted(sides.items()))
        case Commit(process):
            (access,) = accesses(trace.program, trace.memory_model, before, taken.step)
            return {process: f"commit {named_value(trace.program, access.variable, access.value)}"}
        case DropSeparator(process):
            return {process: "sfence takes effect"}
        case _:
            assert_never(taken.step)


def _run_text(trace: Trace, position: int, run: Run) -> str:
    process = trace.program.processes[run.process]
    transition = process.transitions[run.transition]
    text = place(trace.program, transition.span) + step_text(trace.program, run.process, transition)
    taken = trace.steps[position]
    if taken.failure is not None:
        return f"{text} !! {taken.failure.reason}"
    if transition.locked and len(transition.ops) > 1:
        return f"{text}{_atomic_values(trace, position, run)}"
    values = " ".join(_new_values(trace, position, run))
    return f"{text} [{values}]" if values else text


def _atomic_values(trace: Trace, position: int, run: Run) -> str:
    """What an atomic step read and wrote: ` [atomic: read x=1; wrote y=2]`."""
    program = trace.program
    seen = [
        access
        for access in accesses(program, trace.memory_model, trace.state_before(position), trace.steps[position].step)
        if access.process == run.process
    ]
    read = [named_value(program, a.variable, a.value) for a in seen if a.kind in ("load", "own load")]
    wrote = [named_value(program, a.variable, a.value) for a in seen if a.kind not in ("load", "own load")]
    parts = [f"read {', '.join(dict.fromkeys(read))}"] if read else []
    parts += [f"wrote {', '.join(wrote)}"] if wrote else []
    return f" [atomic: {'; '.join(parts)}]" if parts else ""


def _new_values(trace: Trace, position: int, run: Run) -> Iterator[str]:
    """What the step read, and what else it did to registers; a value read without a register goes by its variable."""
    before, after = trace.state_before(position), trace.steps[position].state
    process = trace.program.processes[run.process]
    loaded = {op.register for op in process.transitions[run.transition].ops if isinstance(op, Load | Rmw)}
    if any(register is None or process.registers[register].transient for register in loaded):
        for access in accesses(trace.program, trace.memory_model, before, trace.steps[position].step):
            if access.process == run.process and access.kind in ("load", "own load"):
                yield named_value(trace.program, access.variable, access.value)
    for number, register in enumerate(process.registers):
        old, new = before.registers[run.process][number], after.registers[run.process][number]
        if not register.transient and (old != new or number in loaded):
            yield f"{register.name}={register.domain.text(new)}"


def place(program: Program, span: Span) -> str:
    """`12: `, with the file where it is not the program's own; nothing for what has no place."""
    if span.source is NOWHERE.source:
        return ""
    return f"{span.line}: " if span.source is program.source else f"{span.place}: "


def buffer_text(program: Program, state: State, process: int) -> str:
    """The pending stores of the process, oldest first (under PSO: variable by variable); `|` is a separator."""
    shown = []
    for buffer in state.buffers[process]:
        for entry in buffer:
            shown.append("|" if entry is None else named_value(program, *entry))
    return " ".join(shown)


def _buffer_cell(trace: Trace, position: int, process: int) -> str:
    """What is pending after the step; blank where the step did not change it."""
    before = buffer_text(trace.program, trace.state_before(position), process)
    after = buffer_text(trace.program, trace.steps[position].state, process)
    return "" if before == after else after or "(empty)"


def _ever_pending(trace: Trace, process: int) -> bool:
    return any(any(taken.state.buffers[process]) for taken in trace.steps)


def _all_buffers(trace: Trace, position: int) -> list[str]:
    if not _buffer_column(trace):
        return []
    state, processes = trace.steps[position].state, trace.program.processes
    texts = [(p.name, buffer_text(trace.program, state, i)) for i, p in enumerate(processes)]
    return ["\n".join(f"{name}: {text}" for name, text in texts if text)]


def _memory(trace: Trace, position: int | None, shown: list[int]) -> str:
    """The variables in `shown`; `*` marks what the step changed."""
    old = trace.start.memory if position is None else trace.state_before(position).memory
    new = trace.start.memory if position is None else trace.steps[position].state.memory
    program = trace.program
    return " ".join(f"{'*' if old[n] != new[n] else ' '}{named_value(program, n, new[n])}" for n in shown).strip()


def changed_memory(trace: Trace, position: int) -> str:
    """The variables that the step changed in memory."""
    old, new = trace.state_before(position).memory, trace.steps[position].state.memory
    pairs = enumerate(zip(old, new, strict=True))
    return " ".join(named_value(trace.program, n, after) for n, (before, after) in pairs if before != after)


def named_value(program: Program, variable: int, value: int) -> str:
    """`x=1`, with the name of the value where it has one."""
    declared = program.variables[variable]
    return f"{declared.name}={declared.domain.text(value)}"
