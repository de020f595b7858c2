"""Slow twins for Sober: the traces of a program, straight from the reference models.

A trace says what each process did, which write each load saw, and in which order the writes to each variable took
effect: program order, read-from and store order. It forgets everything else about the interleaving.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from memfence.models.accesses import accesses
from memfence.models.sc import Sc
from memfence.models.state import Commit, Failure, ProcessStep, Rendezvous, State, Step
from memfence.models.steps import MemoryModel, starts, successors
from memfence.models.tso import Tso
from memfence.program.ir import Program

T = TypeVar("T")

WriteId = tuple[int, int, int]
"""Process, which of its steps, which write of the step."""

Seen = tuple[str, int, WriteId | None]
"""What an access did: its kind, its variable and, for a load, the write it saw (None: the initial value)."""


@dataclass(frozen=True, slots=True)
class MemoryTrace:
    """Per process its steps, each a transition with its accesses; per variable its writes in the order of effect."""

    start: int
    steps: tuple[tuple[tuple[int, tuple[Seen, ...]], ...], ...]
    order: tuple[tuple[WriteId, ...], ...]


@dataclass(frozen=True, slots=True)
class _Node:
    state: State
    trace: MemoryTrace
    pending: tuple[tuple[tuple[int, WriteId], ...], ...]  # per process: the writes in its buffer, oldest first


def _initial(program: Program, model: MemoryModel) -> list[_Node]:
    empty = tuple(() for _ in program.processes)
    order = tuple(() for _ in program.variables)
    return [_Node(state, MemoryTrace(n, empty, order), empty) for n, state in enumerate(starts(program, model))]


def _after(program: Program, model: MemoryModel, node: _Node, step: Step, state: State) -> _Node:
    if isinstance(step, Commit):
        (variable, write), *rest = node.pending[step.process]
        order = _put(node.trace.order, variable, (*node.trace.order[variable], write))
        return _Node(state, replace(node.trace, order=order), _put(node.pending, step.process, tuple(rest)))
    runs = (
        (step,)
        if isinstance(step, ProcessStep)
        else (step.sender, step.receiver)
        if isinstance(step, Rendezvous)
        else ()
    )
    seen: dict[int, list[Seen]] = {run.process: [] for run in runs}
    order, pending = node.trace.order, node.pending
    for access in accesses(program, model, node.state, step):
        p, v = access.process, access.variable
        if access.kind == "load":
            seen[p].append(("load", v, order[v][-1] if order[v] else None))
        elif access.kind == "own load":
            seen[p].append(("load", v, next(w for x, w in reversed(pending[p]) if x == v)))
        else:
            write = (p, len(node.trace.steps[p]), sum(kind == "store" for kind, _, _ in seen[p]))
            seen[p].append(("store", v, None))
            if access.kind == "store":
                order = _put(order, v, (*order[v], write))
            else:
                pending = _put(pending, p, (*pending[p], (v, write)))
    steps = node.trace.steps
    for run in runs:
        steps = _put(steps, run.process, (*steps[run.process], (run.transition, tuple(seen[run.process]))))
    return _Node(state, replace(node.trace, steps=steps, order=order), pending)


def _put(values: tuple[T, ...], position: int, value: T) -> tuple[T, ...]:
    return (*values[:position], value, *values[position + 1 :])


def sc_traces(program: Program) -> tuple[set[MemoryTrace], set[MemoryTrace]]:
    """The traces of all SC executions: of all prefixes, and of those that cannot go on."""
    model = Sc()
    prefixes: set[MemoryTrace] = set()
    whole: set[MemoryTrace] = set()
    stack = _initial(program, model)
    while stack:
        node = stack.pop()
        if node.trace in prefixes:
            continue
        prefixes.add(node.trace)
        after = [(s, a) for s, a in successors(program, model, node.state) if not isinstance(a, Failure)]
        stack += [_after(program, model, node, step, state) for step, state in after if isinstance(state, State)]
        if not after:
            whole.add(node.trace)
    return prefixes, whole


def tso_traces(program: Program) -> set[MemoryTrace]:
    """The traces of all TSO executions that end with empty buffers, prefixes included."""
    model = Tso()
    traces: set[MemoryTrace] = set()
    seen: set[_Node] = set()
    stack = _initial(program, model)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.state.is_plain:
            traces.add(node.trace)
        for step, state in successors(program, model, node.state):
            if isinstance(state, State):
                stack.append(_after(program, model, node, step, state))
    return traces


def is_store_buffer_safe(program: Program) -> bool:
    """Definition 5: the TSO executions have the traces of SC executions, and no others."""
    return tso_traces(program) <= sc_traces(program)[0]


def sc_runs(program: Program) -> Iterator[tuple[int, tuple[Step, ...]]]:
    """Every single SC interleaving that cannot go on; a failing step ends it."""
    model = Sc()
    stack: list[tuple[int, State, tuple[Step, ...]]] = [(n, s, ()) for n, s in enumerate(starts(program, model))]
    while stack:
        start, state, steps = stack.pop()
        after = list(successors(program, model, state))
        for step, next_state in after:
            if isinstance(next_state, Failure):
                yield start, (*steps, step)
            else:
                stack.append((start, next_state, (*steps, step)))
        if not after:
            yield start, steps


def trace_of_run(program: Program, start: int, steps: Sequence[Step]) -> MemoryTrace:
    """The trace of one SC execution without failure."""
    return _follow(program, Sc(), _initial(program, Sc())[start], steps)


def tso_trace(program: Program, start: State, steps: Sequence[Step]) -> MemoryTrace:
    """The trace of one TSO execution from the initial state `start`."""
    node = next(node for node in _initial(program, Tso()) if node.state == start)
    return _follow(program, Tso(), node, steps)


def _follow(program: Program, model: MemoryModel, node: _Node, steps: Sequence[Step]) -> MemoryTrace:
    for step in steps:
        state = dict(successors(program, model, node.state))[step]
        if isinstance(state, Failure):
            state = node.state  # the accesses before the failure still count
        node = _after(program, model, node, step, state)
    return node.trace
