"""Whether a run of a relaxed model has the program order and the store order of some SC run: persistence, for one run.

Search for such an SC run: each process repeats its steps, with the values it read, and the stores reach memory in the
order of the given run. How far each process has come determines memory, so that there are few states.
"""

from __future__ import annotations

from collections.abc import Sequence

from memfence.execution.graph import Node
from memfence.execution.trace import Trace
from memfence.execution.trace_graph import trace_graph
from memfence.models.state import ProcessStep
from memfence.records import Record

MOST_STATES = 200_000

Write = tuple[int, int, int]
"""Process, variable, value."""


class _Step(Record):
    """A step of one process: values it needs in memory before its own stores, and what it stores."""

    needs: tuple[tuple[int, int], ...]
    stores: tuple[Write, ...]


def is_order_of_an_sc_run(trace: Trace) -> bool:
    """Whether some SC run has the same; True also where the search grows too large (then nothing is claimed).

    A step that failed has made its loads, and no store. What is pending where a failure ends the run comes last.
    """
    graph = trace_graph(trace).graph
    made = [node for node in graph.nodes if not node.event.writes or trace.steps[node.step].failure is None]
    order = [_write(graph.nodes[n]) for n in graph.writes if trace.steps[graph.nodes[n].step].failure is None]
    moments = _moments(trace)
    by_process = [_steps_of(process, made, moments) for process in range(len(trace.program.processes))]
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


def _write(node: Node) -> Write:
    process, variable, value = node.event.thread, node.event.address, node.event.value
    assert isinstance(process, int) and isinstance(variable, int) and value is not None
    return process, variable, value


def _moments(trace: Trace) -> list[int]:
    """For each position of the run where the event begins that it is part of: a lock region is one event."""
    moments: list[int] = []
    began = 0
    for position, taken in enumerate(trace.steps):
        owner = trace.state_before(position).lock_owner
        is_inside = isinstance(taken.step, ProcessStep) and taken.step.process == owner
        moments.append(began if is_inside else position)
        if owner is None:
            began = position
    return moments


def _steps_of(process: int, made: Sequence[Node], moments: Sequence[int]) -> list[_Step]:
    by_step: dict[int, list[Node]] = {}
    for node in made:
        if node.event.thread == process and node.event.is_access:
            by_step.setdefault(moments[node.step], []).append(node)
    return [_step(nodes) for nodes in by_step.values()]


def _step(nodes: Sequence[Node]) -> _Step:
    needs: list[tuple[int, int]] = []
    stores: list[Write] = []
    for node in nodes:
        _, variable, value = write = _write(node)
        if node.event.writes:
            stores.append(write)
        elif all(variable != stored for _, stored, _ in stores):
            needs.append((variable, value))
    return _Step(tuple(needs), tuple(stores))
