"""What happens to memory in a run of a model, in order: every access, and when a pending store reaches memory."""

from __future__ import annotations

from memfence.execution.trace import Trace
from memfence.models.accesses import Access, accesses
from memfence.models.state import ProcessStep, Rendezvous, Step
from memfence.program.ir import Transition
from memfence.records import Record
from memfence.source import NOWHERE, Span


class Occurrence(Record):
    """One access of the run, in the step at `position`, from 0. A commit has the span of the store it completes."""

    position: int
    access: Access
    span: Span


def occurrences(trace: Trace) -> tuple[Occurrence, ...]:
    """Every access of the run, in order."""
    found = list[Occurrence]()
    pending: dict[tuple[int, int], list[Span]] = {}
    for position, taken in enumerate(trace.steps):
        for access in accesses(trace.program, trace.memory_model, trace.state_before(position), taken.step):
            key = (access.process, access.variable)
            span = pending[key].pop(0) if access.kind == "commit" else _span(trace, position, access.process)
            if access.kind == "pending store":
                pending.setdefault(key, []).append(span)
            found.append(Occurrence(position, access, span))
    return tuple(found)


def pending_at_end(trace: Trace) -> tuple[Occurrence, ...]:
    """The stores that have not reached memory when the run ends, in the order in which they were issued."""
    waiting: dict[tuple[int, int], list[Occurrence]] = {}
    for event in occurrences(trace):
        key = (event.access.process, event.access.variable)
        if event.access.kind == "pending store":
            waiting.setdefault(key, []).append(event)
        elif event.access.kind == "commit":
            waiting[key].pop(0)
    return tuple(sorted((one for mine in waiting.values() for one in mine), key=lambda one: one.position))


def _span(trace: Trace, position: int, process: int) -> Span:
    transition = transition_of(trace, position, process)
    return NOWHERE if transition is None else transition.span


def transition_of(trace: Trace, position: int, process: int) -> Transition | None:
    """The transition that `process` takes in the step at `position`, if any."""
    for run in runs_of(trace.steps[position].step):
        if run.process == process:
            return trace.program.processes[process].transitions[run.transition]
    return None


def runs_of(step: Step) -> tuple[ProcessStep, ...]:
    """The processes that move in the step, each with its transition; a commit moves none."""
    match step:
        case ProcessStep():
            return (step,)
        case Rendezvous(sender, receiver):
            return sender, receiver
        case _:
            return ()
