"""Replay: the one judge of counterexamples. A run is possible only if the textbook rules can take every step of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from memfence.models.readings import is_locked
from memfence.models.state import Commit, DropSeparator, Failure, ProcessStep, Rendezvous, State, Step
from memfence.models.steps import MemoryModel, error_state, take
from memfence.program.ir import Program
from memfence.records import Record


class Stop(Record):
    """The first step that is not possible: its position in the list, from 0, and why."""

    position: int
    reason: str


class Taken(Record):
    """A step, the state after it, and the failure it caused, if any.

    After a failure the state is the language's error state (DVE), else still the one before the step.
    """

    step: Step
    state: State
    failure: Failure | None = None


class Replayed(Record):
    """How far the steps lead from `start`. A failure ends the run, except in a language with an error state."""

    start: State
    taken: tuple[Taken, ...]
    stop: Stop | None = None

    @property
    def is_possible(self) -> bool:
        """Whether every step could be taken."""
        return self.stop is None

    @property
    def failure(self) -> Failure | None:
        """The failure that the last step taken caused."""
        return self.taken[-1].failure if self.taken else None

    @property
    def end(self) -> State:
        return self.taken[-1].state if self.taken else self.start


def replay(program: Program, model: MemoryModel, start: State | int, steps: Sequence[Step]) -> Replayed:
    """Take `steps` one by one from `start` (a state, or the number of an initial one); never raises for bad steps."""
    state = nth_start(program, model, start) if isinstance(start, int) else start
    first, taken = state, list[Taken]()
    for position, step in enumerate(steps):
        after = take(program, model, state, step) if _exists(program, state, step) else None
        if after is None:
            return Replayed(first, tuple(taken), Stop(position, _reason(program, model, state, step)))
        if isinstance(after, Failure):
            next_state = None if after.is_assertion else error_state(program, model)
            taken.append(Taken(step, next_state or state, after))
            if next_state is None and position + 1 < len(steps):
                return Replayed(first, tuple(taken), Stop(position + 1, "the program has failed already"))
            state = next_state or state
        else:
            taken.append(Taken(step, after))
            state = after
    return Replayed(first, tuple(taken))


def nth_start(program: Program, model: MemoryModel, number: int) -> State:
    """`starts(program, model)[number]`, without building the others."""
    choices = [v.init for v in program.variables]
    choices += [(0,) if r.transient else r.init for p in program.processes for r in p.registers]
    picked = list[int]()
    for choice in reversed(choices):  # the last one changes fastest
        number, position = divmod(number, len(choice))
        picked.append(choice[position])
    if number:
        raise IndexError("no such initial state")
    values = iter(reversed(picked))
    memory = tuple(next(values) for _ in program.variables)
    registers = tuple(tuple(next(values) for _ in p.registers) for p in program.processes)
    return State(tuple(p.initial for p in program.processes), registers, memory, model.empty_buffers(program))


def is_start(program: Program, model: MemoryModel, state: State) -> bool:
    """Whether a run of `program` may begin in `state`."""
    at_start = state.locations == tuple(p.initial for p in program.processes) and state.lock_owner is None
    memory = all(value in v.init for value, v in zip(state.memory, program.variables, strict=True))
    registers = all(
        value in ((0,) if r.transient else r.init)
        for values, p in zip(state.registers, program.processes, strict=True)
        for value, r in zip(values, p.registers, strict=True)
    )
    return at_start and memory and registers and state.buffers == model.empty_buffers(program)


def _exists(program: Program, state: State, step: Step) -> bool:
    match step:
        case ProcessStep(process, transition):
            processes = program.processes
            return 0 <= process < len(processes) and 0 <= transition < len(processes[process].transitions)
        case Rendezvous(sender, receiver):
            return _exists(program, state, sender) and _exists(program, state, receiver)
        case Commit(process, _) | DropSeparator(process):
            return 0 <= process < len(state.buffers)
        case _:
            assert_never(step)


def _reason(program: Program, model: MemoryModel, state: State, step: Step) -> str:
    """Why `step` is not possible in `state`."""
    if not _exists(program, state, step):
        return f"the program has no such step: {step}"
    match step:
        case Commit(process, buffer):
            return f"`{program.processes[process].name}` has nothing to commit from buffer {buffer} under {model.name}"
        case DropSeparator(process):
            return f"no separator heads all buffers of `{program.processes[process].name}`"
        case ProcessStep() as run:
            return _run_reason(program, model, state, run)
        case Rendezvous(sender, receiver):
            return f"the rendezvous is blocked: {_run_reason(program, model, state, sender)} (sender); " + (
                f"{_run_reason(program, model, state, receiver)} (receiver)"
            )
        case _:
            assert_never(step)


def _run_reason(program: Program, model: MemoryModel, state: State, run: ProcessStep) -> str:
    process = program.processes[run.process]
    transition = process.transitions[run.transition]
    here = state.locations[run.process]
    who = f"`{process.name}`"
    if here != transition.source:
        at, needed = process.locations[here].name, process.locations[transition.source].name
        return f"{who} stands at `{at}`, transition {run.transition} starts at `{needed}`"
    if is_locked(model, transition) and any(state.buffers[run.process]):
        return f"{who} has pending stores, transition {run.transition} is locked and needs its buffers empty"
    if state.lock_owner not in (None, run.process):
        return f"`{program.processes[state.lock_owner].name}` holds the bus lock"
    return f"transition {run.transition} of {who} is blocked in this state"
