"""The states of a small program under several models in one graph: what is new under a weaker model can be seen.

States are told apart by what they hold, whatever the model: one that SC reaches, too, is the same state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from memfence.models.spec import ModelSpec
from memfence.models.state import Entry, State, Step
from memfence.models.steps import is_final, starts, successors
from memfence.program.ir import Program
from memfence.records import Record

MOST_STATES = 400

Pending = tuple[tuple[Entry, ...], ...]


class Node(Record):
    """A state: `pending[p]` is everything that waits in the buffers of process p. `models`: those that reach it."""

    locations: tuple[int, ...]
    registers: tuple[tuple[int, ...], ...]
    memory: tuple[int, ...]
    pending: Pending
    depth: int
    is_end: bool
    models: tuple[str, ...]


class Edge(Record):
    """A step between two nodes, by their numbers."""

    source: int
    target: int
    step: Step
    models: tuple[str, ...]


class StateGraph(Record):
    """Nodes in the order in which they were reached. `complete`: there are no others."""

    program: Program
    models: tuple[str, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    complete: bool


def state_graph(program: Program, models: Sequence[ModelSpec], *, most_states: int = MOST_STATES) -> StateGraph:
    """The graph under `models`, at most `most_states` states of each. Steps that fail lead nowhere."""
    keys: dict[tuple[object, ...], int] = {}
    found: list[tuple[State, int]] = []
    reached_by: list[list[str]] = []
    edges: dict[tuple[int, int], tuple[Step, list[str]]] = {}
    complete = True

    def number(state: State, depth: int, model: str) -> int:
        key = (state.locations, state.registers, state.memory, _pending(state), state.lock_owner)
        if key not in keys:
            keys[key] = len(found)
            found.append((state, depth))
            reached_by.append([])
        if model not in reached_by[keys[key]]:
            reached_by[keys[key]].append(model)
        return keys[key]

    for model in models:
        rules, waiting, seen = model.definition, deque[tuple[State, int]](), set[State]()
        for state in starts(program, rules):
            seen.add(state)
            waiting.append((state, 0))
            number(state, 0, model.name)
        while waiting:
            state, depth = waiting.popleft()
            here = number(state, depth, model.name)
            for step, after in successors(program, rules, state):
                if not isinstance(after, State):
                    continue
                if after not in seen and len(seen) >= most_states:
                    complete = False
                    continue
                if after not in seen:
                    seen.add(after)
                    waiting.append((after, depth + 1))
                there = number(after, depth + 1, model.name)
                named = edges.setdefault((here, there), (step, []))[1]
                named += [model.name] if model.name not in named else []
    nodes = tuple(
        Node(s.locations, s.registers, s.memory, _pending(s), depth, is_final(program, s), tuple(by))
        for (s, depth), by in zip(found, reached_by, strict=True)
    )
    drawn = tuple(Edge(a, b, step, tuple(by)) for (a, b), (step, by) in edges.items())
    return StateGraph(program, tuple(model.name for model in models), nodes, drawn, complete)


def _pending(state: State) -> Pending:
    return tuple(tuple(entry for buffer in buffers for entry in buffer) for buffers in state.buffers)
