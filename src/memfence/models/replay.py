"""Replay: the one judge of counterexamples. A run is possible only if the textbook rules can take every step of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from memfence.models.state import Commit, DropSeparator, Failure, Rendezvous, Run, State, Step
from memfence.models.steps import MemoryModel, starts, take
from memfence.program.ir import Program


@dataclass(frozen=True, slots=True)
class Stop:
    """The first step that is not possible: its position in the list, from 0, and why."""

    position: int
    reason: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """How far the steps lead from `start`: each step taken, with the state after it.

    A step that makes the program fail leaves the state as it was, sets `failure`, and is the last one taken.
    """

    start: State
    taken: tuple[tuple[Step, State], ...]
    failure: Failure | None = None
    stop: Stop | None = None

    @property
    def is_possible(self) -> bool:
        """Whether every step could be taken."""
        return self.stop is None

    @property
    def end(self) -> State:
        return self.taken[-1][1] if self.taken else self.start


def replay(program: Program, model: MemoryModel, start: State | int, steps: Sequence[Step]) -> Replayed:
    """Take `steps` one by one from `start` (a state, or the number of an initial one); never raises for bad steps."""
    state = starts(program, model)[start] if isinstance(start, int) else start
    first, taken = state, list[tuple[Step, State]]()
    for position, step in enumerate(steps):
        after = take(program, model, state, step) if _exists(program, state, step) else None
        if after is None:
            return Replayed(first, tuple(taken), stop=Stop(position, _reason(program, model, state, step)))
        if isinstance(after, Failure):
            taken.append((step, state))
            left_over = Stop(position + 1, "the program has failed already") if position + 1 < len(steps) else None
            return Replayed(first, tuple(taken), after, left_over)
        taken.append((step, after))
        state = after
    return Replayed(first, tuple(taken))


def _exists(program: Program, state: State, step: Step) -> bool:
    match step:
        case Run(process, transition):
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
        case Run() as run:
            return _run_reason(program, state, run)
        case Rendezvous(sender, receiver):
            return f"the rendezvous is blocked: {_run_reason(program, state, sender)} (sender); " + (
                f"{_run_reason(program, state, receiver)} (receiver)"
            )
        case _:
            assert_never(step)


def _run_reason(program: Program, state: State, run: Run) -> str:
    process = program.processes[run.process]
    transition = process.transitions[run.transition]
    here = state.locations[run.process]
    who = f"`{process.name}`"
    if here != transition.source:
        at, needed = process.locations[here].name, process.locations[transition.source].name
        return f"{who} stands at `{at}`, transition {run.transition} starts at `{needed}`"
    if transition.locked and any(state.buffers[run.process]):
        return f"{who} has pending stores, transition {run.transition} is locked and needs its buffers empty"
    if state.lock_owner not in (None, run.process):
        return f"`{program.processes[state.lock_owner].name}` holds the bus lock"
    return f"transition {run.transition} of {who} is blocked in this state"
