"""Programs with fences put behind chosen transitions, straight in the IR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memfence.program.ir import Fence, FenceKind, Location, Process, Program, Store, Transition

Sites = Mapping[tuple[int, int], FenceKind]
"""(process, transition) -> the fence behind it."""


def with_fences(program: Program, sites: Sites) -> Program:
    """`program` with a fence behind each of the transitions; their numbers stay."""
    processes = tuple(
        _fenced(process, {t: kind for (p, t), kind in sites.items() if p == number})
        for number, process in enumerate(program.processes)
    )
    return replace(program, processes=processes)


def _fenced(process: Process, fences: Mapping[int, FenceKind]) -> Process:
    locations, transitions = list(process.locations), list(process.transitions)
    for number, kind in fences.items():
        behind = transitions[number].target
        locations.append(Location(f"fence{number}"))
        transitions[number] = replace(transitions[number], target=len(locations) - 1)
        transitions.append(Transition(len(locations) - 1, behind, (Fence(kind),)))
    return replace(process, locations=tuple(locations), transitions=tuple(transitions))


def fenced_everywhere(program: Program) -> Program:
    """`program` with a full fence behind every transition that stores."""
    return with_fences(
        program,
        {
            (p, t): "mfence"
            for p, process in enumerate(program.processes)
            for t, transition in enumerate(process.transitions)
            if any(isinstance(op, Store) for op in transition.ops)
        },
    )
