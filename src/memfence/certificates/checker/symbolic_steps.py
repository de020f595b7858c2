"""The steps of a program on sets of buffer contents, by the rules of `models`: a load asks what the buffer may hold.

`take` of the reference models runs the transition. The buffers that it sees hold only what the step itself stores; a
mark stands for the stores that were pending before. Where a load would look behind the mark, every answer that some
word of the set gives is tried, and the set is cut down to the words that give it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import product

from memfence.models.buffering import Buffering
from memfence.models.readings import StoreReading
from memfence.models.state import SEPARATOR, Buffer, Entry, Failure, Rendezvous, Run, State, Step
from memfence.models.steps import MemoryModel, set_at, take
from memfence.program.facts.effects import stored_variables
from memfence.program.ir import FenceKind, Program
from memfence.program.orders import MemoryOrder
from memfence.records import Record

MARK: Entry = (-1, 0)
"""Stands for at least one pending store."""
Answers = Mapping[tuple[int, int], int | None]
"""By process and variable: the newest pending value; None: no store to it is pending."""


class Unanswered(Exception):
    """A load looks behind the mark, and nobody has said what is there."""

    def __init__(self, process: int, variable: int) -> None:
        super().__init__()
        self.process, self.variable = process, variable


class Guessed(Record):
    """A memory model whose loads find what `answers` say. Stores are kept in the order in which they are issued."""

    inner: MemoryModel
    answers: Answers = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def buffering(self) -> Buffering:
        return self.inner.buffering

    def empty_buffers(self, program: Program) -> tuple[tuple[Buffer, ...], ...]:
        return tuple(((),) for _ in program.processes)

    def load(self, program: Program, state: State, process: int, variable: int) -> int | None:
        (buffer,) = state.buffers[process]
        for entry in reversed(buffer):
            if entry == MARK:
                if (process, variable) not in self.answers:
                    raise Unanswered(process, variable)
                return self.answers[process, variable]
            if entry is not SEPARATOR and entry[0] == variable:
                return entry[1]
        return None

    def store(self, program: Program, state: State, process: int, variable: int, value: int) -> State | None:
        return _appended(state, process, (variable, value))

    def separate(self, program: Program, state: State, process: int) -> State | None:
        """As under PSO: a separator in every queue, that is none where the process has no queue."""
        if not self.buffering.reorders_stores or not stored_variables(program.processes[process]):
            return state
        return _appended(state, process, SEPARATOR)

    def reading_of_store(self, order: MemoryOrder) -> StoreReading:
        return self.inner.reading_of_store(order)

    def reading_of_fence(self, order: MemoryOrder) -> FenceKind | None:
        return self.inner.reading_of_fence(order)

    def background(self, program: Program, state: State, process: int) -> Iterator[tuple[Step, State]]:
        return iter(())


def _appended(state: State, process: int, entry: Entry) -> State:
    (buffer,) = state.buffers[process]
    return replace(state, buffers=set_at(state.buffers, process, ((*buffer, entry),)))


def steps_at(program: Program, locations: tuple[int, ...]) -> Iterator[Run | Rendezvous]:
    """Every step of processes that stand at these locations, possible or not."""
    for p, process in enumerate(program.processes):
        for number, transition in process.leaving(locations[p]):
            if transition.sync is None:
                yield Run(p, number)
            elif transition.sync.sends:
                for q, other in enumerate(program.processes):
                    for m, partner in other.leaving(locations[q]):
                        if q != p and partner.sync is not None and not partner.sync.sends:
                            yield Rendezvous(Run(p, number), Run(q, m))


def movers(step: Run | Rendezvous) -> tuple[int, ...]:
    return (step.process,) if isinstance(step, Run) else (step.sender.process, step.receiver.process)


class Way(Record):
    """One way in which a step may go: `pending` says of each mover whether stores were pending before, `answers` what
    its loads found there, `after` where it leads, with what the step itself stored in the buffers of the movers."""

    step: Run | Rendezvous
    pending: Mapping[int, bool]
    answers: Answers
    after: State | Failure

    def stored(self, process: int) -> Buffer:
        assert isinstance(self.after, State)
        (buffer,) = self.after.buffers[process]
        return buffer[1:] if self.pending[process] else buffer


Options = Callable[[int, int], Iterable[int | None]]
"""What a load of a process may find of a variable among its pending stores."""


def ways_of(program: Program, model: MemoryModel, control: State, options: Options) -> Iterator[Way]:
    """Every way of every step from `control`, a state without buffers."""
    for step in steps_at(program, control.locations):
        who = movers(step)
        for chosen in product((False, True), repeat=len(who)):
            pending = dict(zip(who, chosen, strict=True))
            buffers = tuple(((MARK,),) if pending.get(p) else ((),) for p, _ in enumerate(program.processes))
            state = replace(control, buffers=buffers)
            for answers, after in _outcomes(program, model, state, step, options, {}):
                yield Way(step, pending, answers, after)


def _outcomes(
    program: Program, model: MemoryModel, state: State, step: Step, options: Options, answers: Answers
) -> Iterator[tuple[Answers, State | Failure]]:
    try:
        after = take(program, Guessed(model, answers), state, step)
    except Unanswered as load:
        for value in options(load.process, load.variable):
            more = {**answers, (load.process, load.variable): value}
            yield from _outcomes(program, model, state, step, options, more)
        return
    if after is not None:
        yield answers, after
