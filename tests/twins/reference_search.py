"""Exhaustive search on the executable definition of a model: slow, obvious, and the yardstick of everything faster."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from memfence.models.state import Failure, State, Step
from memfence.models.steps import MemoryModel, is_final, starts, successors
from memfence.program.ir import Program

Node = TypeVar("Node", bound=Hashable)
Outcome = tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]
"""How a run ended: the registers of each process, transient ones left out, and memory."""


class TooManyStates(Exception):
    """A search met more than it was allowed to."""


def breadth_first(
    first: Iterable[Node], follow: Callable[[Node], Iterable[Node]], *, most: int | None = None
) -> Iterator[Node]:
    """Every node that `follow` leads to, once, nearest first; TooManyStates where there are more than `most`."""
    queue = deque(dict.fromkeys(first))
    seen = set(queue)
    while queue:
        if most is not None and len(seen) > most:
            raise TooManyStates
        node = queue.popleft()
        yield node
        for after in follow(node):
            if after not in seen:
                seen.add(after)
                queue.append(after)


@dataclass(slots=True)
class Exploration:
    """What `explore` found; not `complete` if it stopped at its limit."""

    states: set[State] = field(default_factory=set)
    failures: set[Failure] = field(default_factory=set)
    complete: bool = True

    @property
    def has_failed_assertion(self) -> bool:
        return any(failure.is_assertion for failure in self.failures)

    @property
    def has_runtime_error(self) -> bool:
        return any(not failure.is_assertion for failure in self.failures)


def explore(program: Program, model: MemoryModel, *, most_states: int | None = None) -> Exploration:
    """Every reachable state and every failure; where there are more than `most_states` states, some of them.

    A run ends with its failure, in every language.
    """
    found = Exploration()

    def follow(state: State) -> Iterator[State]:
        for _, after in successors(program, model, state):
            if isinstance(after, Failure):
                found.failures.add(after)
            else:
                yield after

    try:
        found.states.update(breadth_first(starts(program, model), follow, most=most_states))
    except TooManyStates:
        found.complete = False
    return found


def reachable(program: Program, model: MemoryModel, *, most_states: int | None = None) -> set[State]:
    """Every reachable state; TooManyStates where there are more than `most_states`."""
    found = explore(program, model, most_states=most_states)
    if not found.complete:
        raise TooManyStates
    return found.states


def outcomes(program: Program, model: MemoryModel, *, most_states: int | None = None) -> set[Outcome]:
    """How runs can end: every process halted, every buffer empty."""
    states = reachable(program, model, most_states=most_states)
    return {outcome(program, state) for state in states if is_final(program, state)}


def outcome(program: Program, state: State) -> Outcome:
    """What is left of `state` once nobody moves."""
    registers = tuple(
        tuple(value for register, value in zip(process.registers, values, strict=True) if not register.transient)
        for process, values in zip(program.processes, state.registers, strict=True)
    )
    return registers, state.memory


def shortest_steps(
    program: Program, model: MemoryModel, goal: Callable[[State], object]
) -> tuple[int, tuple[Step, ...]] | None:
    """A shortest run to a state that satisfies `goal`, or to a failure: the number of its start, and its steps.

    None where there is neither.
    """
    begin = starts(program, model)
    first = frozenset(begin)
    came_from: dict[State, tuple[State, Step]] = {}
    failing: list[tuple[State, Step]] = []

    def follow(state: State) -> Iterator[State]:
        for step, after in successors(program, model, state):
            if isinstance(after, Failure):
                failing.append((state, step))
            else:
                if after not in first:
                    came_from.setdefault(after, (state, step))
                yield after

    def run_to(state: State, *last: Step) -> tuple[int, tuple[Step, ...]]:
        steps = list(reversed(last))
        while state in came_from:
            state, step = came_from[state]
            steps.append(step)
        return begin.index(state), tuple(reversed(steps))

    for state in breadth_first(begin, follow):
        if failing:
            return run_to(*failing[0])
        if goal(state):
            return run_to(state)
    return run_to(*failing[0]) if failing else None
