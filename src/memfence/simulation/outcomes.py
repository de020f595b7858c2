"""How runs of a small program can end: the final states under a model, with a shortest run to each."""

from __future__ import annotations

from collections import deque

from memfence.models.state import State, Step
from memfence.models.steps import MemoryModel, is_final, starts, successors
from memfence.program.ir import Program
from memfence.records import Record
from memfence.simulation.walk import Walk

MOST_STATES = 20_000


class Outcomes(Record):
    """`walks`: one to each final state, in the order in which they were found. `complete`: there are no others."""

    walks: tuple[Walk, ...]
    states: int
    complete: bool


def outcomes(program: Program, model: MemoryModel, *, most_states: int = MOST_STATES) -> Outcomes:
    """Visit states breadth-first by the textbook rules. Runs that fail have no outcome."""
    came: dict[State, tuple[State, Step] | None] = dict.fromkeys(starts(program, model))
    waiting, ends = deque(came), list[State]()
    while waiting and len(came) <= most_states:
        state = waiting.popleft()
        if is_final(program, state):
            ends.append(state)
        for step, after in successors(program, model, state):
            if isinstance(after, State) and after not in came:
                came[after] = (state, step)
                waiting.append(after)
    ends += [state for state in waiting if is_final(program, state)]
    walks = tuple(_walk_to(program, model, came, end) for end in _distinct(program, ends))
    return Outcomes(walks, len(came), not waiting)


def _distinct(program: Program, ends: list[State]) -> list[State]:
    """One of those that differ only in where processes stand and in what only memfence keeps account of."""
    named = [n for n, variable in enumerate(program.variables) if not variable.is_bookkeeping]
    return list({(tuple(end.memory[n] for n in named), end.registers): end for end in reversed(ends)}.values())[::-1]


def _walk_to(program: Program, model: MemoryModel, came: dict[State, tuple[State, Step] | None], end: State) -> Walk:
    steps = list[Step]()
    state = end
    while (before := came[state]) is not None:
        state, step = before
        steps.append(step)
    return Walk(program, model, state).follow(steps[::-1])
