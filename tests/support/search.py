"""A slow, obvious search over the reference models: shortest runs to a state, for tests of everything else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from memfence.execution.trace import Trace
from memfence.models.state import Failure, State, Step
from memfence.models.steps import MemoryModel, starts, successors
from memfence.program.ir import Program


def shortest_run(program: Program, model: MemoryModel, goal: Callable[[State], bool]) -> Trace | None:
    """A shortest run to a state that satisfies `goal`, or to a failure; None where there is neither."""
    queue: deque[tuple[State, int, tuple[Step, ...]]] = deque(
        (state, number, ()) for number, state in enumerate(starts(program, model))
    )
    seen = {state for state, _, _ in queue}
    while queue:
        state, start, steps = queue.popleft()
        if goal(state):
            return Trace(program, model, start, steps)
        for step, after in successors(program, model, state):
            if isinstance(after, Failure):
                return Trace(program, model, start, (*steps, step))
            if after not in seen:
                seen.add(after)
                queue.append((after, start, (*steps, step)))
    return None


def reachable(program: Program, model: MemoryModel) -> set[State]:
    """Every reachable state."""
    todo = list(starts(program, model))
    seen = set(todo)
    while todo:
        for _, after in successors(program, model, todo.pop()):
            if isinstance(after, State) and after not in seen:
                seen.add(after)
                todo.append(after)
    return seen
