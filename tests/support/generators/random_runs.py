"""Random runs of a program under a memory model: any step that is possible, up to a length."""

from __future__ import annotations

from random import Random
from typing import cast

from memfence.execution.trace import Trace
from memfence.models.state import State, Step
from memfence.models.steps import MemoryModel, starts, successors
from memfence.program.ir import Program


def random_run(program: Program, model: MemoryModel, random: object, *, most: int) -> Trace:
    """At most `most` steps, fewer where the program ends or fails. `random`: of `st.randoms()`."""
    choose = cast(Random, random).choice
    start = choose(list(starts(program, model)))
    state: State = start
    taken: list[Step] = []
    while len(taken) < most and (moves := list(successors(program, model, state))):
        step, after = choose(moves)
        taken.append(step)
        if not isinstance(after, State):
            break
        state = after
    return Trace(program, model, start, taken)
