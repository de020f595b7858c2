"""Places where a process may wait for ever (Spin's `end` labels): a state in which all processes do is no deadlock.

The search calls a state a deadlock if no step is possible and some process has not halted. So that it needs to know
nothing of valid ends, processes get a step there that changes nothing, and that is possible only where all the others
have halted or may end, too. Every other state is a deadlock if and only if it was one before.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.program.expressions import At, conjunction
from memfence.program.ir import Assume, Op, Process, Program, Transition


def with_valid_ends(program: Program) -> Program:
    """`program` with a step that changes nothing in every state where all processes have halted or may end."""
    ends = [_valid_ends(process) for process in program.processes]
    if not all(ends):
        return program  # some process never ends
    if not any(location.may_end for process in program.processes for location in process.locations):
        return program
    processes = []
    for number, process in enumerate(program.processes):
        others = [At(other, valid) for other, valid in enumerate(ends) if other != number]
        processes.append(_with_pauses(process, (Assume(conjunction(*others)),) if others else ()))
    return replace(program, processes=tuple(processes))


def _valid_ends(process: Process) -> frozenset[int]:
    left = {transition.source for transition in process.transitions}
    return frozenset(n for n, location in enumerate(process.locations) if location.may_end or n not in left)


def _with_pauses(process: Process, ops: tuple[Op, ...]) -> Process:
    pauses = tuple(
        Transition(n, n, ops, span=location.span) for n, location in enumerate(process.locations) if location.may_end
    )
    return replace(process, transitions=(*process.transitions, *pauses))
