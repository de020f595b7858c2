"""What of a run people see. Of a model, all of it; of C, the steps that matter, by the names that the source has.

A C program takes many steps that nobody else can see: it computes, branches, prints, ends and joins threads. Reports
leave these out (the numbers of the others stay, and JSON has all of them). What the front end keeps account of for
itself, and values without a name in the source, are not shown either.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from memfence.execution.overtaking import explain
from memfence.execution.trace import Trace
from memfence.models.accesses import Access, accesses
from memfence.models.state import Commit, ProcessStep, Rendezvous
from memfence.models.steps import successors
from memfence.program.ir import Fence, Program, SharedVar, Transition
from memfence.program.text.steps import step_text
from memfence.records import Record
from memfence.report.views.table import wrap
from memfence.source import NOWHERE, Span

LONGEST = 56
NOT_WRITTEN = re.compile(r"%|\.__|^specific\d+$")
"""Registers that no user named: values in between, those inside a library, a thread's own words for keys."""
OPERATIONS = r"store|load|exchange|fetch_\w+?|compare_exchange\w*?|thread_fence"
FUNCTION = re.compile(rf"\b(?:__)?atomic_({OPERATIONS})(?:_n)?(?:_explicit)?\(")
ORDER = re.compile(r"\b(?:std::)?memory_order(?:_|::)(\w+)|\b__ATOMIC_([A-Z_]+)")


def is_c(program: Program) -> bool:
    """Whether the program has steps and variables that its author did not write as such."""
    return program.language == "c"


def shown_positions(trace: Trace) -> tuple[int, ...]:
    """The steps of the run to show, from 0: what others can see, and what fails."""
    everything = tuple(range(len(trace.steps)))
    if not is_c(trace.program):
        return everything
    return tuple(n for n in everything if _can_be_seen(trace, n)) or everything


class Row(Record):
    """A line of a table: the step at `position`, and memory and buffers as they are behind the step at `last`."""

    position: int
    last: int


def rows_of(trace: Trace) -> tuple[Row, ...]:
    """The lines of a table. A store of C that reaches memory in the very next step is one line with it."""
    together = commits_at_once(trace)
    shown = [n for n in shown_positions(trace) if n not in together]
    return tuple(Row(n, n + 1 if n + 1 in together else n) for n in shown)


def commits_at_once(trace: Trace) -> frozenset[int]:
    """The commits that a table shows in the line of their store, which is the step before: nobody can tell them apart.

    Not those that the reason under the table may mention.
    """
    if not is_c(trace.program) or not trace.steps:
        return frozenset()
    why = explain(trace)
    told = () if why is None else (why.pair.by, why.pair.commit, why.missed)
    mentioned = {event.position for event in told if event is not None}
    return frozenset(n for n in range(1, len(trace.steps)) if n not in mentioned and _is_at_once(trace, n))


def _is_at_once(trace: Trace, position: int) -> bool:
    step, store = trace.steps[position].step, trace.steps[position - 1].step
    if not (isinstance(step, Commit) and isinstance(store, ProcessStep) and step.process == store.process):
        return False
    before, after = trace.state_before(position - 1), trace.steps[position].state
    return not any(before.buffers[step.process]) and not any(after.buffers[step.process])


def _can_be_seen(trace: Trace, position: int) -> bool:
    taken = trace.steps[position]
    if taken.failure is not None:
        return True
    if isinstance(taken.step, Commit):
        return any(
            not trace.program.variables[access.variable].is_internal
            for access in accesses(trace.program, trace.memory_model, trace.state_before(position), taken.step)
        )
    if not isinstance(taken.step, ProcessStep):
        return True
    transition = trace.program.processes[taken.step.process].transitions[taken.step.transition]
    if any(isinstance(op, Fence) and _orders(trace, op) for op in transition.ops):
        return True
    seen = accesses(trace.program, trace.memory_model, trace.state_before(position), taken.step)
    return any(_matters(trace.program.variables[access.variable], access) for access in seen)


def _matters(variable: SharedVar, access: Access) -> bool:
    """Any access of the program's own, and that a heap block is freed."""
    if variable.is_internal:
        return False
    return not variable.is_bookkeeping or (access.kind == "store" and variable.name.startswith("freed("))


def _orders(trace: Trace, fence: Fence) -> bool:
    return fence.kind != "thread_fence" or trace.memory_model.reading_of_fence(fence.order) is not None


def left_out_text(trace: Trace) -> list[str]:
    """The sentence that says which steps were left out; none where nothing was."""
    count = len(trace.steps) - len(shown_positions(trace))
    what = "1 step that only computes, or starts, ends or joins a thread"
    if count > 1:
        what = f"{count} steps that only compute, or start, end or join threads"
    return [f"(not shown: {what})"] if count else []


def shown_processes(trace: Trace) -> tuple[int, ...]:
    """The processes that get a column: of a C program, those that do something in the run."""
    everyone = range(len(trace.program.processes))
    if not is_c(trace.program):
        return tuple(everyone)
    taken = (trace.steps[position].step for position in shown_positions(trace))
    moving = {step.process for step in taken if not isinstance(step, Rendezvous)}
    return tuple(p for p in everyone if p in moving)


def is_shown_variable(program: Program, variable: int) -> bool:
    """Whether the user knows its values: not those inside of mutexes and the like, which are the library's."""
    shared = program.variables[variable]
    return not (shared.is_bookkeeping or shared.is_internal or (is_c(program) and ".__" in shared.name))


def register_text(program: Program, name: str) -> str | None:
    """What the user calls the register; None for values without a name in a C source."""
    return None if is_c(program) and NOT_WRITTEN.search(name) else name


def value_text(program: Program, variable: int, value: int) -> str:
    """What the variable holds, as people read it: a number, a name that the program has for it, or an address."""
    return program.value_names.get(value) or program.variables[variable].domain.text(value)


def equation(program: Program, variable: int, value: int) -> str:
    """`queue.head=&nodes[1]`."""
    return f"{program.variables[variable].name}={value_text(program, variable, value)}"


def shown_text(program: Program, process: int, transition: Transition) -> str:
    """The text of the step; of C without what makes it long: `store(&x, 1, release)`."""
    text = step_text(program, process, transition)
    return shortened(text) if is_c(program) else text


def shortened(text: str) -> str:
    """A C statement or expression, short enough for a table."""
    text = FUNCTION.sub(r"\1(", text.rstrip("; "))
    text = ORDER.sub(lambda found: (found[1] or found[2]).lower(), text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def place(program: Program, transition: Transition) -> str:
    """`12: `, `40→12: ` where line 40 calls; with the file where it is not the program's own; nothing for no place."""
    if transition.span.source is NOWHERE.source:
        return ""
    calls = [_line(program, call) for call in transition.calls if call.source is not NOWHERE.source]
    return "→".join([*calls, _line(program, transition.span)]) + ": "


def ending_lines(trace: Trace, width: int) -> list[str]:
    """For a run of C that ends where nobody can go on, the paragraph that says so."""
    if not is_c(trace.program) or trace.failure is not None or not trace.steps:
        return []
    if next(successors(trace.program, trace.memory_model, trace.end), None) is not None:
        return []
    return ["", *wrap(waiting_text(trace), width)]


def waiting_text(trace: Trace) -> str:
    """Who stands where when nobody can go on."""
    program, waiting = trace.program, []
    for number, (process, at) in enumerate(zip(program.processes, trace.end.locations, strict=True)):
        leaving = sorted((transition for _, transition in process.leaving(at)), key=lambda t: not t.locked)
        found = leaving[0] if leaving else None
        if found is not None and not process.locations[at].may_end:
            where = place(program, found).rstrip(": ")
            line = f"in line {where}: " if where else ""
            waiting.append(f"`{process.name}` ({line}{shown_text(program, number, found)})")
    first = f"At the end no {'thread' if is_c(program) else 'process'} can go on"
    return f"{first}: {', '.join(waiting)}." if waiting else f"{first}."


def _line(program: Program, span: Span) -> str:
    if span.source is program.source:
        return str(span.line)
    return f"{PurePath(span.source.path).name}:{span.line}" if is_c(program) else span.place
