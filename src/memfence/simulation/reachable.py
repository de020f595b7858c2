"""The values that registers and variables have in the states near the start: what an editor shows beside a name."""

from __future__ import annotations

from collections import deque

from memfence.models.state import State
from memfence.models.steps import MemoryModel, starts, successors
from memfence.program.ir import Program
from memfence.records import Record

MOST_STATES = 20_000


class Values(Record):
    """`variables[name]`, `registers[process][name]`: every value that was seen. `complete`: there are no others."""

    variables: dict[str, frozenset[int]]
    registers: dict[str, dict[str, frozenset[int]]]
    states: int
    complete: bool


def reachable_values(program: Program, model: MemoryModel, *, most_states: int = MOST_STATES) -> Values:
    """Visit states breadth-first by the textbook rules, at most `most_states`, and collect what they hold."""
    reached = set(starts(program, model))
    waiting = deque(reached)
    while waiting and len(reached) <= most_states:
        for _, after in successors(program, model, waiting.popleft()):
            if isinstance(after, State) and after not in reached:
                reached.add(after)
                waiting.append(after)
    variables = {
        variable.name: frozenset(state.memory[number] for state in reached)
        for number, variable in enumerate(program.variables)
    }
    registers = {
        process.name: {
            register.name: frozenset(state.registers[number][column] for state in reached)
            for column, register in enumerate(process.registers)
            if not register.transient
        }
        for number, process in enumerate(program.processes)
    }
    return Values(variables, registers, len(reached), not waiting)
