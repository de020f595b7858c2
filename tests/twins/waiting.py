"""Threads that wait for ever, by looking at all states: a part of the graph that nobody leaves and in which memory
stays as it is, with a process in it that has not ended."""

from __future__ import annotations

from memfence.digraph import components
from memfence.models.state import Failure, State
from memfence.models.steps import MemoryModel, starts, successors
from memfence.program.ir import Program


def waits_for_ever(program: Program, model: MemoryModel) -> bool:
    """Whether some fair run goes on, or stands still, without all processes ever ending and without another write."""
    numbers: dict[State, int] = {state: n for n, state in enumerate(dict.fromkeys(starts(program, model)))}
    after: list[list[int]] = []
    states = list(numbers)
    for state in states:  # grows
        found = [following for _, following in successors(program, model, state) if not isinstance(following, Failure)]
        fails = any(isinstance(following, Failure) for _, following in successors(program, model, state))
        for following in found:
            if following not in numbers:
                numbers[following] = len(states)
                states.append(following)
        after.append([numbers[following] for following in found] + ([-1] if fails else []))
    component = components(len(states), lambda node: [n for n in after[node] if n >= 0])
    left = {component[n] for n, targets in enumerate(after) for t in targets if t < 0 or component[t] != component[n]}
    memories: dict[int, set[tuple[int, ...]]] = {}
    for n, state in enumerate(states):
        memories.setdefault(component[n], set()).add(tuple(state.memory))
    left |= {part for part, seen in memories.items() if len(seen) > 1}
    return any(component[n] not in left and not _has_ended(program, state) for n, state in enumerate(states))


def _has_ended(program: Program, state: State) -> bool:
    pairs = zip(program.processes, state.locations, strict=True)
    return all(not any(process.leaving(location)) for process, location in pairs)
