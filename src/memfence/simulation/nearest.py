"""The shortest way from a walk to a state that somebody waits for: breadth-first, by the textbook rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from memfence.models.state import State, Step
from memfence.models.steps import successors
from memfence.records import Record
from memfence.simulation.walk import Walk

MOST_STATES = 20_000


class Sought(Record):
    """`walk`: the longer walk, None where nothing was found. `complete`: then no run from here leads there."""

    walk: Walk | None
    complete: bool
    states: int


def walk_to(walk: Walk, is_there: Callable[[State], bool], *, most_states: int = MOST_STATES) -> Sought:
    """Add the fewest steps (at least one) after which `is_there` says yes. Failures end a way."""
    reached: dict[State, tuple[State, Step] | None] = {walk.state: None}
    waiting = deque([walk.state] if walk.choices else [])
    while waiting:
        state = waiting.popleft()
        for step, after in successors(walk.program, walk.memory_model, state):
            if not isinstance(after, State):
                continue
            if is_there(after):
                return Sought(walk.follow([*_way(reached, state), step]), True, len(reached))
            if after not in reached:
                reached[after] = (state, step)
                waiting.append(after)
        if len(reached) > most_states:
            return Sought(None, False, len(reached))
    return Sought(None, True, len(reached))


def _way(reached: dict[State, tuple[State, Step] | None], state: State) -> list[Step]:
    steps = list[Step]()
    while (came := reached[state]) is not None:
        state, step = came
        steps.append(step)
    return steps[::-1]
