"""Which store was overtaken by which later access of its own process: the reason why a run is not SC.

A load that reads memory while an earlier store of its process to another variable is pending overtakes that store;
under PSO, so does a store that commits first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from memfence.execution.trace import Trace
from memfence.models.accesses import Access, accesses
from memfence.models.state import Rendezvous, Run
from memfence.program.ir import Transition
from memfence.source import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Event:
    """One access of the run, in the step at `position`, from 0. A commit has the span of the store it completes."""

    position: int
    access: Access
    span: Span


@dataclass(frozen=True, slots=True)
class Overtaken:
    """`store` was pending when `by`, later in its process, took effect; `commit` is when `store` did, if ever.

    `by` is a load from memory, or the commit of a younger store: then `issued` is where that store was issued.
    """

    store: Event
    by: Event
    issued: Event | None
    commit: Event | None


@dataclass(frozen=True, slots=True)
class Why:
    """The overtaken pair that matters most, the others, and the accesses of other processes that made it matter.

    `hidden_from`: a read of the overtaken store's variable before its commit. `missed`: a write of the variable that
    the overtaking load read, which takes effect only after it.
    """

    pair: Overtaken
    others: tuple[Overtaken, ...]
    hidden_from: Event | None
    missed: Event | None


def events(trace: Trace) -> tuple[Event, ...]:
    """Every access of the run, in order."""
    found = list[Event]()
    pending: dict[tuple[int, int], list[Span]] = {}
    for position, taken in enumerate(trace.steps):
        for access in accesses(trace.program, trace.memory_model, trace.state_before(position), taken.step):
            key = (access.process, access.variable)
            span = pending[key].pop(0) if access.kind == "commit" else _span(trace, position, access.process)
            if access.kind == "pending store":
                pending.setdefault(key, []).append(span)
            found.append(Event(position, access, span))
    return tuple(found)


def _span(trace: Trace, position: int, process: int) -> Span:
    transition = transition_of(trace, position, process)
    return NOWHERE if transition is None else transition.span


def transition_of(trace: Trace, position: int, process: int) -> Transition | None:
    """The transition that `process` takes in the step at `position`, if any."""
    step = trace.steps[position].step
    runs = (step.sender, step.receiver) if isinstance(step, Rendezvous) else (step,)
    for run in runs:
        if isinstance(run, Run) and run.process == process:
            return trace.program.processes[process].transitions[run.transition]
    return None


def overtaken_pairs(trace: Trace) -> tuple[Overtaken, ...]:
    """Every pair of the run, ordered by when the overtaking access took effect, then by age of the store."""
    return _pairs(events(trace))


def _pairs(happened: tuple[Event, ...]) -> tuple[Overtaken, ...]:
    pairs = list[tuple[Event, Event, Event | None]]()
    commits: dict[Event, Event] = {}
    pending = list[Event]()
    for event in happened:
        access = event.access
        mine = [s for s in pending if s.access.process == access.process]
        if access.kind == "load":
            pairs += [(store, event, None) for store in mine if store.access.variable != access.variable]
        elif access.kind == "pending store":
            pending.append(event)
        elif access.kind == "commit":
            own = next(s for s in mine if s.access.variable == access.variable)
            pairs += [(older, event, own) for older in mine[: mine.index(own)]]
            pending.remove(own)
            commits[own] = event
    return tuple(Overtaken(store, by, issued, commits.get(store)) for store, by, issued in pairs)


def torn_steps(trace: Trace) -> tuple[tuple[Event, Event | None], ...]:
    """Stores that are one step with other accesses in the text but reach memory later, each with its commit, if any.

    Such a step is atomic under SC and not here, though nothing is overtaken.
    """
    happened = events(trace)
    count = Counter((e.position, e.access.process) for e in happened)
    found, waiting = dict[Event, Event | None](), list[Event]()
    for event in happened:
        if event.access.kind == "pending store":
            waiting.append(event)
            if count[event.position, event.access.process] > 1:
                found[event] = None
        elif event.access.kind == "commit":
            key = (event.access.process, event.access.variable)
            store = next(s for s in waiting if (s.access.process, s.access.variable) == key)
            waiting.remove(store)
            if store in found:
                found[store] = event
    return tuple(found.items())


def explain(trace: Trace) -> Why | None:
    """The overtaken pair that matters most, or None where the run overtakes nothing.

    Best: another process misses the store (it reads the old value before the commit) and the load misses a write of
    another process; next: one of these. Among equals, the latest overtaking, and of its stores the youngest.
    """
    happened = events(trace)
    pairs = _pairs(happened)
    if not pairs:
        return None

    def weight(pair: Overtaken) -> tuple[int, int, int]:
        conflicts = int(_hidden_from(pair, happened) is not None) + int(_missed(pair, happened) is not None)
        return conflicts, pair.by.position, pair.store.position

    best = max(pairs, key=weight)
    others = tuple(pair for pair in pairs if pair is not best)
    return Why(best, others, _hidden_from(best, happened), _missed(best, happened))


def _of_others(pair: Overtaken, happened: tuple[Event, ...], variable: int) -> Iterator[Event]:
    process = pair.store.access.process
    return (e for e in happened if e.access.process != process and e.access.variable == variable)


def _hidden_from(pair: Overtaken, happened: tuple[Event, ...]) -> Event | None:
    commit = pair.commit
    for event in _of_others(pair, happened, pair.store.access.variable):
        before_commit = commit is None or event.position < commit.position
        if event.access.kind == "load" and pair.store.position < event.position and before_commit:
            return event
    return None


def _missed(pair: Overtaken, happened: tuple[Event, ...]) -> Event | None:
    if pair.by.access.kind != "load":
        return None
    for event in _of_others(pair, happened, pair.by.access.variable):
        if event.access.writes_memory and event.position > pair.by.position:
            return event
    return None
