"""A run with other names for its processes: where processes are alike, it is a run of the same program.

What is renamed is only claimed to be a run: `Trace` replays it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from memfence.execution.trace import Trace
from memfence.models.state import Commit, DropSeparator, ProcessStep, Rendezvous, State, Step

Names = Sequence[int]
"""For each process, the one that does in the new run what it did in the old one: a permutation."""


def rename_state(state: State, names: Names) -> State:
    """The state in which `names[p]` stands where process p stood."""
    order = sorted(range(len(names)), key=lambda process: names[process])
    buffers = tuple(state.buffers[p] for p in order) if state.buffers else ()
    owner = None if state.lock_owner is None else names[state.lock_owner]
    return State(
        tuple(state.locations[p] for p in order),
        tuple(state.registers[p] for p in order),
        state.memory,
        buffers,
        owner,
    )


def rename_step(step: Step, names: Names) -> Step:
    """The same step of the other process."""
    match step:
        case ProcessStep(process, transition):
            return ProcessStep(names[process], transition)
        case Commit(process, buffer):
            return Commit(names[process], buffer)
        case DropSeparator(process):
            return DropSeparator(names[process])
        case Rendezvous(ProcessStep() as sender, ProcessStep() as receiver):
            return Rendezvous(
                ProcessStep(names[sender.process], sender.transition),
                ProcessStep(names[receiver.process], receiver.transition),
            )
        case _:
            assert_never(step)


def exchanged(trace: Trace, one: int, other: int) -> Trace:
    """The run in which two processes have exchanged their parts. UnreplayableWitness if they are not alike."""
    names = list(range(len(trace.program.processes)))
    names[one], names[other] = other, one
    steps = [rename_step(taken.step, names) for taken in trace.steps]
    return Trace(trace.program, trace.memory_model, rename_state(trace.start, names), steps)
