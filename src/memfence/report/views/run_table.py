"""A run as a table people can follow: who did what, what memory holds then, what still sits in which buffer.

Three layouts, from the clearest to the narrowest; the first that fits is taken, and what it leaves out is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memfence.execution.occurrences import occurrences
from memfence.execution.trace import Trace
from memfence.report.views.shown_run import Row, equation, is_shown_variable, left_out_text, rows_of, shown_processes
from memfence.report.views.table import Column, render_table, wrap
from memfence.report.words.actions import actions, buffer_text

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
    below = [*_left_out(trace), *_goes_on(trace, loop_start)]
    return "\n".join([table, *_wrap_all(below, max(width, NARROWEST))])


def _left_out(trace: Trace) -> list[str]:
    """How to read the places of calls, and which steps are not in the table."""
    rows = rows_of(trace)
    places = (action.place.rstrip(": ") for row in rows for action in actions(trace, row.position).values())
    called = next((place.split("→") for place in places if "→" in place), None)
    lines = []
    if called is not None:
        caller, line = called[-2:]
        lines.append(f"({caller}→{line}: line {line}, in a call from line {caller})")
    if any(row.position != row.last for row in rows):
        lines.append("(a store and its commit in the next step are one line)")
    return lines + left_out_text(trace)


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
    processes, doing = trace.program.processes, shown_processes(trace)
    buffered = [p for p in doing if _ever_pending(trace, p)]
    columns = [Column("step", 4, align_right=True), *(Column(processes[p].name, 16) for p in doing)]
    columns += [Column("memory", width), *(Column(f"buffer {processes[p].name}", 12) for p in buffered)]
    rows = [["", *("" for _ in doing), _memory(trace, None, shown), *("" for _ in buffered)]]
    for row in rows_of(trace):
        cells = [numbers[row.position], *cells_of(trace, row.position, doing), _memory(trace, row, shown)]
        rows.append(cells + [_buffer_cell(trace, row, p) for p in buffered])
    table = render_table(columns, rows, width)
    return table and "\n".join([table, *_wrap_all(_never_accessed(trace, shown), width)])


def cells_of(trace: Trace, position: int, processes: Sequence[int]) -> list[str]:
    """What each of the processes does in the step, if anything."""
    found = actions(trace, position)
    return [found[p].line if p in found else "" for p in processes]


def _accessed(trace: Trace) -> list[int]:
    """The variables that the run reads or writes, and those that its stores still wait for."""
    found = {event.access.variable for event in occurrences(trace)}
    return [number for number in _variables(trace) if number in found]


def _variables(trace: Trace) -> list[int]:
    """Those that the user wrote."""
    return [number for number, _ in enumerate(trace.program.variables) if is_shown_variable(trace.program, number)]


def _wrap_all(texts: list[str], width: int) -> list[str]:
    return [line for text in texts for line in wrap(text, width)]


def _never_accessed(trace: Trace, shown: list[int]) -> list[str]:
    others = [n for n in _variables(trace) if n not in shown]
    named = [equation(trace.program, n, trace.start.memory[n]) for n in others[:FEW_VARIABLES]]
    more = [f"{len(others) - FEW_VARIABLES} more"] if len(others) > FEW_VARIABLES else []
    return [f"(not accessed in this run: {' '.join([*named, *more])})"] if others else []


def _medium(trace: Trace, width: int, numbers: list[str]) -> str | None:
    """A column a process, what changed in memory, one column for all buffers."""
    doing = shown_processes(trace)
    columns = [Column("step", 4, align_right=True), *(Column(trace.program.processes[p].name, 14) for p in doing)]
    columns += [Column("memory changed", 8), *_buffer_column(trace)]
    rows = [
        [
            numbers[row.position],
            *cells_of(trace, row.position, doing),
            changed_memory(trace, row),
            *_all_buffers(trace, row),
        ]
        for row in rows_of(trace)
    ]
    return _with_initial(trace, render_table(columns, rows, width), width)


def _narrow(trace: Trace, width: int, numbers: list[str]) -> str | None:
    """One column says who, one what."""
    columns = [Column("step", 4, align_right=True), Column("process", 6), Column("does", 16)]
    columns += [Column("memory changed", 8), *_buffer_column(trace)]
    rows = []
    for row in rows_of(trace):
        number = numbers[row.position]
        for process, action in actions(trace, row.position).items():
            changed = changed_memory(trace, row) if number else ""
            cells = [number, trace.program.processes[process].name, action.line, changed]
            rows.append(cells + (_all_buffers(trace, row) if number else ["" for _ in columns[4:]]))
            number = ""
    table = render_table(columns, rows, width)
    note = f"(one column for all {len(trace.program.processes)} processes: a wider terminal shows one each)"
    return _with_initial(trace, table and "\n".join([table, *wrap(note, width)]), width)


def _plain_lines(trace: Trace, numbers: list[str]) -> Iterator[str]:
    for row in rows_of(trace):
        for process, action in actions(trace, row.position).items():
            yield f"{numbers[row.position]}. {trace.program.processes[process].name}: {action.line}"


def _buffer_column(trace: Trace) -> list[Column]:
    pending = any(_ever_pending(trace, p) for p, _ in enumerate(trace.program.processes))
    return [Column("buffers", 8)] if pending else []


def _with_initial(trace: Trace, table: str | None, width: int) -> str | None:
    if table is None:
        return None
    memory = trace.start.memory
    others = [equation(trace.program, n, memory[n]) for n in _variables(trace) if memory[n] != 0]
    rest = "everything else is 0" if others else "all of memory is 0"
    shown = others if len(others) <= FEW_VARIABLES else [*others[:FEW_VARIABLES], f"{len(others) - FEW_VARIABLES} more"]
    return "\n".join([*wrap(f"At the start {', '.join([*shown, rest])}.", width), table])


def _buffer_cell(trace: Trace, row: Row, process: int) -> str:
    """What is pending after the step; blank where the step did not change it."""
    before = buffer_text(trace.program, trace.state_before(row.position), process)
    after = buffer_text(trace.program, trace.steps[row.last].state, process)
    return "" if before == after else after or "(empty)"


def _ever_pending(trace: Trace, process: int) -> bool:
    return any(any(taken.state.buffers[process]) for taken in trace.steps)


def _all_buffers(trace: Trace, row: Row) -> list[str]:
    if not _buffer_column(trace):
        return []
    state, processes = trace.steps[row.last].state, trace.program.processes
    texts = [(p.name, buffer_text(trace.program, state, i)) for i, p in enumerate(processes)]
    return ["\n".join(f"{name}: {text}" for name, text in texts if text)]


def _memory(trace: Trace, row: Row | None, shown: list[int]) -> str:
    """The variables in `shown`; `*` marks what the step changed."""
    old = trace.start.memory if row is None else trace.state_before(row.position).memory
    new = trace.start.memory if row is None else trace.steps[row.last].state.memory
    return " ".join(f"{'*' if old[n] != new[n] else ' '}{equation(trace.program, n, new[n])}" for n in shown).strip()


def changed_memory(trace: Trace, row: Row) -> str:
    """The variables that the line changed in memory."""
    old, new = trace.state_before(row.position).memory, trace.steps[row.last].state.memory
    return " ".join(equation(trace.program, n, new[n]) for n in _variables(trace) if old[n] != new[n])
