"""Whether a run of a relaxed model has the program order and the store order of some SC run: persistence, for one run.

Search for such an SC run: each process repeats its steps, with the values it read, and the stores reach memory in the
order of the given run. How far each process has come determines memory, so that there are few states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memfence.execution.trace import Trace
from memfence.models.accesses import Access, accesses
from memfence.models.state import Run

MOST_STATES = 200_000

Write = tuple[int, int, int]
"""Process, variable, value."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of one process: values it needs in memory before its own stores, and what it stores."""

    needs: tuple[tuple[int, int], ...]
    stores: tuple[Write, ...]


def is_order_of_an_sc_run(trace: Trace) -> bool:
    """Whether some SC run has the same; True also where the search grows too large (then nothing is claimed)."""
    order = _store_order(trace)
    by_process = [_steps_of(trace, p) for p in range(len(trace.program.processes))]
    start = tuple(0 for _ in by_process)
    waiting, seen = [(start, 0, trace.start.memory)], {start}
    while waiting and len(seen) < MOST_STATES:
        positions, done, memory = waiting.pop()
        if all(at == len(steps) for at, steps in zip(positions, by_process, strict=True)):
            return True
        for p, steps in enumerate(by_process):
            if positions[p] == len(steps):
                continue
            step = steps[positions[p]]
            after = (*positions[:p], positions[p] + 1, *positions[p + 1 :])
            end = done + len(step.stores)
            fits = all(memory[v] == value for v, value in step.needs) and tuple(order[done:end]) == step.stores
            if fits and after not in seen:
                seen.add(after)
                waiting.append((after, end, _written(memory, step.stores)))
    return bool(waiting)


def _written(memory: tuple[int, ...], stores: Sequence[Write]) -> tuple[int, ...]:
    changed = list(memory)
    for _, variable, value in stores:
        changed[variable] = value
    return tuple(changed)


def _store_order(trace: Trace) -> list[Write]:
    """The stores as they reached memory; what is pending where a failure ends the run comes last."""
    committed = [
        (access.process, access.variable, access.value)
        for position, taken in enumerate(trace.steps)
        if taken.failure is None
        for access in accesses(trace.program, trace.memory_model, trace.state_before(position), taken.step)
        if access.writes_memory
    ]
    pending = [
        (process, *entry)
        for process, buffers in enumerate(trace.end.buffers)
        for buffer in buffers
        for entry in buffer
        if entry is not None
    ]
    return committed + pending


def _steps_of(trace: Trace, process: int) -> list[_Step]:
    """A step that failed has made its loads, and no store."""
    found = []
    for position, taken in enumerate(trace.steps):
        if isinstance(taken.step, Run) and taken.step.process == process:
            step = _step(accesses(trace.program, trace.memory_model, trace.state_before(position), taken.step))
            found.append(step if taken.failure is None else replace(step, stores=()))
    return found


def _step(made: Sequence[Access]) -> _Step:
    needs: list[tuple[int, int]] = []
    stores: list[Write] = []
    for access in made:
        if access.kind in ("store", "pending store"):
            stores.append((access.process, access.variable, access.value))
        elif all(variable != access.variable for _, variable, _ in stores):
            needs.append((access.variable, access.value))
    return _Step(tuple(needs), tuple(stores))
