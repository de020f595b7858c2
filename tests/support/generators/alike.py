"""Random programs for the criteria in which processes are alike, or nearly."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from memfence.program.ir import Process, Program
from support.generators.criteria_programs import PLAIN, RICH, criteria_programs

MOST_PROCESSES = 4


@st.composite
def programs_with_copies(draw: st.DrawFn, torn_steps: bool = True) -> Program:
    """A random program with one or two of its processes several times.

    Some copies begin with other values, or somewhere else: they are not alike, though they have the same code.
    """
    features = draw(st.sampled_from([PLAIN, RICH]))
    program = draw(criteria_programs(features, torn_steps=torn_steps))
    processes = list(program.processes[:2])
    while len(processes) < MOST_PROCESSES and draw(st.integers(0, 2)):
        original = processes[draw(st.integers(0, 1))]
        processes.append(_copy(draw, original, f"Q{len(processes)}"))
    return replace(program, processes=tuple(draw(st.permutations(processes))))


def _copy(draw: st.DrawFn, original: Process, name: str) -> Process:
    copy = replace(original, name=name)
    match draw(st.integers(0, 5)):
        case 0:
            registers = tuple(
                r if r.transient else replace(r, init=(draw(st.integers(r.domain.lo, r.domain.hi)),))
                for r in copy.registers
            )
            return replace(copy, registers=registers)
        case 1:
            return replace(copy, initial=draw(st.integers(0, len(copy.locations) - 1)))
        case _:
            return copy
