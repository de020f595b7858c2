"""A run under SC as a run with store buffers: every store reaches memory before anything else happens."""

from __future__ import annotations

from dataclasses import replace

from memfence.execution.occurrences import runs_of
from memfence.execution.trace import Trace
from memfence.models.spec import ModelSpec
from memfence.models.state import Failure, State, Step
from memfence.models.steps import MemoryModel, take
from memfence.program.ir import Program


def with_store_buffers(trace: Trace, model: ModelSpec) -> Trace:
    """The run of `trace`, one under SC, under `model`, replayed. Its last state has the same locations and values."""
    relaxed = model.definition
    program = trace.program
    start = replace(trace.start, buffers=relaxed.empty_buffers(program))
    state: State | Failure | None = start
    steps: list[Step] = []
    for taken in trace.steps:
        steps.append(taken.step)
        state = take(program, relaxed, state, taken.step) if isinstance(state, State) else state
        for run in runs_of(taken.step):
            if isinstance(state, State):
                state = _drain(program, relaxed, state, run.process, steps)
    return Trace(program, relaxed, start, steps)


def _drain(program: Program, model: MemoryModel, state: State, process: int, steps: list[Step]) -> State:
    while (after := next(model.background(program, state, process), None)) is not None:
        step, state = after
        steps.append(step)
    return state
