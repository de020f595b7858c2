"""A run as a proof: a `Trace` can only be made by replaying its steps through the reference models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memfence.models.replay import Taken, is_start, replay
from memfence.models.state import Failure, State, Step
from memfence.models.steps import MemoryModel
from memfence.program.ir import Program


class UnreplayableWitness(Exception):
    """An engine reported a run that the reference model does not allow: a fault of memfence, never a verdict."""


TraceStep = Taken


@dataclass(frozen=True, slots=True, init=False)
class Trace:
    """A possible run of `program` under `memory_model`, from an initial state on. UnreplayableWitness if it is not."""

    program: Program
    memory_model: MemoryModel
    start: State
    steps: tuple[TraceStep, ...]

    def __init__(self, program: Program, memory_model: MemoryModel, start: State | int, steps: Sequence[Step]) -> None:
        replayed = replay(program, memory_model, start, steps)
        if not is_start(program, memory_model, replayed.start):
            raise UnreplayableWitness(f"no run under {memory_model.name} begins in the given state")
        if replayed.stop is not None:
            at, reason = replayed.stop.position, replayed.stop.reason
            raise UnreplayableWitness(f"step {at + 1} of {len(steps)} under {memory_model.name}: {reason}")
        object.__setattr__(self, "program", program)
        object.__setattr__(self, "memory_model", memory_model)
        object.__setattr__(self, "start", replayed.start)
        object.__setattr__(self, "steps", replayed.taken)

    @property
    def model(self) -> str:
        """Name of the memory model, its bound included: `tso`, `pso(2)`."""
        return self.memory_model.name

    @property
    def end(self) -> State:
        return self.steps[-1].state if self.steps else self.start

    @property
    def failure(self) -> Failure | None:
        return self.steps[-1].failure if self.steps else None

    def state_before(self, position: int) -> State:
        """The state in which the step at `position`, from 0, was taken."""
        return self.steps[position - 1].state if position else self.start
