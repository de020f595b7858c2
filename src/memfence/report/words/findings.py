"""What is wrong, said first: the sentence that a violation begins with.

`properties` says which property was broken; this says how: what fails, which object, and where.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memfence.execution.occurrences import occurrences, runs_of
from memfence.execution.trace import Trace
from memfence.program.ir import Final, Load, Process, Program, Property, Transition
from memfence.program.text.steps import step_text
from memfence.report.views.shown_run import is_c, shown_text
from memfence.report.words.properties import asked_text, property_line, property_text, violated_property
from memfence.source import NOWHERE, Span
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import (
    BadFinalState,
    BadState,
    CounterexampleRun,
    Deadlocked,
    Lasso,
    NonScState,
    NoScRun,
    Overtakes,
    Races,
    StepFails,
)
from memfence.tasks.result import CheckResult

NOT_ROBUST: dict[Criterion, str] = {
    Criterion.PERSISTENT: "NOT PERSISTENT: some run has no SC run with the same program order and store order",
    Criterion.ROBUST: "NOT TRACE-ROBUST: some run has a happens-before trace that no SC run has",
    Criterion.POVSO: "NOT PoVso: no SC run has the program order of some run and its order of stores to each variable",
    Criterion.PO: "NOT Po: some run has no SC run with the same program order",
    Criterion.STATE_ROBUST: "NOT STATE-ROBUST: a state with empty buffers is reached that SC does not reach",
}
ACCESSES = ("load", "store", "access")
"""What the front end of C calls an access; the statement says more."""
SLEEPS = re.compile(r"wait|futex|park|sleep", re.IGNORECASE)


def headline(result: CheckResult) -> str:
    """What a verdict is about: what goes wrong, else what was checked.

    A property that the user stated is said in the user's words: it is what does not hold.
    """
    match result.evidence:
        case CounterexampleRun(_, BadState() | BadFinalState()) | Lasso():
            return property_line(result)
        case _:
            return finding_text(result) or property_line(result)


def finding_text(result: CheckResult) -> str | None:
    """What goes wrong, for a violation; None for other verdicts."""
    match result.evidence:
        case CounterexampleRun(trace, StepFails()):
            return failure_text(trace)
        case CounterexampleRun(trace, Deadlocked()):
            return deadlock_text(trace)
        case CounterexampleRun(trace, BadState() | BadFinalState()):
            stated = violated_property(result, trace)
            return _asked_in_vain(result) if stated is None else broken_text(stated)
        case CounterexampleRun(trace, Races() as races):
            kind = "data race" if races.unfenced is None else "triangular race"
            return f"{kind} on `{trace.program.variables[races.variable].name}`"
        case CounterexampleRun(_, Overtakes() | NonScState() | NoScRun()):
            return NOT_ROBUST[result.criterion]
        case Lasso():
            return _asked_in_vain(result)
        case _:
            return None


def _asked_in_vain(result: CheckResult) -> str:
    """Of an infinite run, or of a bad state that is not the fault of one property."""
    return f"`{asked_text(result.program, result.properties)}` does not hold"


def broken_text(stated: Property) -> str:
    """What a state shows that violates the property."""
    if isinstance(stated, Final) and stated.quantifier != "forall":
        return f"this outcome is possible: {stated.text.lstrip('~')}"
    return f"`{property_text(stated)}` does not hold"


def failure_text(trace: Trace) -> str:
    """Of the last step: `assert(x < 3) fails (line 7)`, ``null pointer dereference: `p->next` (line 9)``."""
    moves, failure = runs_of(trace.steps[-1].step), trace.failure
    if not moves or failure is None:
        return "a step fails"
    program, process = trace.program, moves[0].process
    transition = program.processes[process].transitions[moves[0].transition]
    text = step_text(program, process, transition).rstrip("; ")
    if failure.is_assertion:
        return f"{text} fails{in_brackets(program, [transition.span])}"
    what = error_text(program, failure.reason, text, _freed_in(trace))
    return f"{what}{in_brackets(program, [transition.span])}"


LOCKED = "locked {"
"""How a step is shown that no statement of the text makes."""


def error_text(program: Program, reason: str, statement: str, freed: Mapping[str, Span] | None = None) -> str:
    """The reason with the object that it is about, by its name, and the statement that fails.

    `freed`: of heap blocks, where the run freed them.
    """
    kind, colon, about = reason.partition(": ")
    if not statement or statement.startswith(LOCKED):  # nothing of the source: the library does it
        return reason
    if about in ACCESSES or not colon:
        return f"{kind}: `{statement}`"
    return f"{kind}: `{about}`{_life(program, about, freed or {})} in `{statement}`"


def _life(program: Program, about: str, freed: Mapping[str, Span]) -> str:
    """` (allocated in line 12, freed in line 30)`, of a heap block or a part of one."""
    block = next((one for one in program.blocks if re.match(re.escape(one.name) + r"(?![\w#])", about)), None)
    if block is None:
        return ""
    end = freed.get(block.name) or (block.freed[0] if len(block.freed) == 1 and about == block.name else None)
    parts = [("allocated", block.allocated), *([] if end is None else [("freed", end)])]
    known = [f"{what} in {_at(program, span)}" for what, span in parts if span.source is not NOWHERE.source]
    return f" ({', '.join(known)})" if known else ""


def _freed_in(trace: Trace) -> Mapping[str, Span]:
    """The heap blocks that the run frees, and where, by what the front end keeps account of."""
    found: dict[str, Span] = {}
    names = {number: f"freed({block.name})" for number, block in enumerate(trace.program.blocks)}
    flags = {v: n for v, one in enumerate(trace.program.variables) for n, flag in names.items() if one.name == flag}
    for event in occurrences(trace):
        if event.access.kind == "store" and event.access.variable in flags:
            found[trace.program.blocks[flags[event.access.variable]].name] = event.span
    return found


def _at(program: Program, span: Span) -> str:
    return f"line {span.line}" if span.source.path == program.source.path else span.place


def deadlock_text(trace: Trace) -> str:
    """``DEADLOCK: `waiter` sleeps for ever (line 12)``: those that only wait for the end of others are left out."""
    program = trace.program
    stuck = [
        (number, transition)
        for number, process in enumerate(program.processes)
        if (transition := _waits_at(process, trace.end.locations[number])) is not None
    ]
    causes = [(n, t) for n, t in stuck if not _waits_for_an_end(program, t)] or stuck
    if not causes:
        return "DEADLOCK: no process can go on"
    names = [f"`{program.processes[number].name}`" for number, _ in causes]
    sleep = all(is_c(program) and SLEEPS.search(shown_text(program, n, t)) for n, t in causes)
    return deadlock_of(program, names, "sleep" if sleep else "wait", [transition.span for _, transition in causes])


def deadlock_of(program: Program, names: Sequence[str], verb: str, spans: Sequence[Span]) -> str:
    """The sentence about those who `wait` or `sleep` for ever, at these places."""
    return f"DEADLOCK: {_listed(names)} {verb}{'s' * (len(names) == 1)} for ever{in_brackets(program, spans)}"


def _waits_at(process: Process, location: int) -> Transition | None:
    """The step that the process cannot take; None where it has ended, or may stop."""
    if process.locations[location].may_end:
        return None
    leaving = sorted((transition for _, transition in process.leaving(location)), key=lambda t: not t.locked)
    return leaving[0] if leaving else None


def _waits_for_an_end(program: Program, transition: Transition) -> bool:
    """Whether the step only waits until another thread has ended."""
    loads = [variable for op in transition.ops if isinstance(op, Load) for variable in op.address.variables]
    return bool(loads) and all(program.variables[v].is_bookkeeping for v in loads)


def in_brackets(program: Program, spans: Sequence[Span]) -> str:
    """` (line 7)`, ` (lines 7 and 9)`, ` (q.h:3)`; nothing where there is no place."""
    known = list(dict.fromkeys(span for span in spans if span.source is not NOWHERE.source))
    if not known:
        return ""
    if all(span.source.path == program.source.path for span in known):
        numbers = [str(line) for line in sorted({span.line for span in known})]
        return f" (line{'s' * (len(numbers) > 1)} {_listed(numbers)})"
    return f" ({_listed(list(dict.fromkeys(span.place for span in known)))})"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
