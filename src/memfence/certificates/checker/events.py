"""What a process does at one moment: a step, or a whole way through a region in which it holds the bus.

While the bus is held nobody else accesses memory. So what a process does from the step that takes the bus to the one
that releases it is one event with all the accesses on the way (the lemma about regions in
`docs/theory/certificates.md`). There may be many ways; those that never release the bus are no events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memfence.models.accesses import Access, accesses
from memfence.models.readings import is_locked
from memfence.models.sc import Sc
from memfence.models.state import Failure, ProcessStep, State
from memfence.models.steps import set_at, take
from memfence.models.tso import Tso
from memfence.program.ir import Lock, Program, Transition
from memfence.records import Record

SC, TSO = Sc(), Tso()


class Event(Record):
    """`first`: the step that it begins with. `made`: of each variable the first read, unless it was written before, and
    the first write; if it fails, or waits, only the reads. `after`: None where it waits."""

    first: ProcessStep
    made: tuple[Access, ...]
    after: State | Failure | None
    locked: bool

    @property
    def read(self) -> frozenset[int]:
        return frozenset(access.variable for access in self.made if not access.writes_memory)

    @property
    def written(self) -> frozenset[int]:
        return frozenset(access.variable for access in self.made if access.writes_memory)


def events_of(program: Program, state: State, process: int, *, waiting: bool = False) -> Iterator[Event]:
    """Each event of SC of the process in `state`, if nobody holds the bus; `waiting`: what it tries in vain, too."""
    places: list[tuple[ProcessStep | None, State, tuple[Access, ...]]] = [(None, state, ())]
    seen = set[tuple[ProcessStep, State, tuple[Access, ...]]]()
    while places and state.lock_owner is None:
        first, here, before = places.pop()
        for number, transition in program.processes[process].leaving(here.locations[process]):
            step = ProcessStep(process, number)
            after, begins = take(program, SC, here, step), first or step
            if isinstance(after, State):
                made = _joined(before, accesses(program, SC, here, step))
                if after.lock_owner is None:
                    yield Event(begins, made, after, first is not None or is_locked_event(transition))
                elif (place := (begins, after, made)) not in seen:
                    seen.add(place)
                    places.append(place)
            elif after is not None or waiting:
                tried = accesses(program, SC, here, step) if after is not None else _begun(program, here, step)
                made = _joined(before, tried)
                own = {access.variable for access in made if access.writes_memory and after is None}
                read = tuple(a for a in made if not a.writes_memory and a.variable not in own)
                yield Event(begins, read, after, first is not None or is_locked_event(transition))


def is_locked_event(transition: Transition) -> bool:
    """Whether the event that begins with this step waits for all that is pending."""
    return is_locked(TSO, transition) or any(isinstance(op, Lock) for op in transition.ops)


def _joined(before: tuple[Access, ...], more: tuple[Access, ...]) -> tuple[Access, ...]:
    for access in more:
        known = [one.writes_memory for one in before if one.variable == access.variable]
        if not known or (access.writes_memory and not any(known)):
            before = (*before, replace(access, value=0))
    return before


def _begun(program: Program, state: State, step: ProcessStep) -> tuple[Access, ...]:
    """What a step that waits has accessed before."""
    process = program.processes[step.process]
    transition = process.transitions[step.transition]
    for length in range(len(transition.ops) - 1, 0, -1):
        shorter = set_at(process.transitions, step.transition, replace(transition, ops=transition.ops[:length]))
        changed = set_at(program.processes, step.process, replace(process, transitions=shorter))
        beginning = replace(program, processes=changed)
        if take(beginning, SC, state, step) is not None:
            return accesses(beginning, SC, state, step)
    return ()
