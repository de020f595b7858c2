"""Programs up to the names and numbers of their locations and the order of their transitions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from memfence.program.ir import Process, Program


def canonical(program: Program) -> Hashable:
    """Equal for programs that differ only in names and numbers of locations and in the order of transitions.

    Colour refinement: a location is told from others by what leads to and from it, in as many rounds as there are
    locations. Locations that control never reaches are left out.
    """
    return program.variables, tuple(_canonical_process(process) for process in program.processes)


def _canonical_process(process: Process) -> Hashable:
    reached = _reached(process)
    edges = [t for t in process.transitions if t.source in reached]
    colours: dict[int, int] = {place: int(place == process.initial) for place in reached}
    rounds: list[Hashable] = []
    for _ in range(len(reached)):
        signatures: dict[int, Hashable] = {}
        for place in reached:
            out = [(repr((t.ops, t.locked, t.sync)), colours[t.target]) for t in edges if t.source == place]
            into = [(repr((t.ops, t.locked, t.sync)), colours[t.source]) for t in edges if t.target == place]
            signatures[place] = (colours[place], tuple(sorted(out)), tuple(sorted(into)))
        order = _sorted_unique(list(signatures.values()))
        rounds.append(tuple(order))
        colours = {place: order.index(signatures[place]) for place in reached}
    return process.name, process.template, process.registers, tuple(rounds), tuple(sorted(colours.values()))


def _sorted_unique(values: Sequence[Hashable]) -> list[Hashable]:
    return sorted(set(values), key=repr)


def _reached(process: Process) -> set[int]:
    reached, waiting = {process.initial}, [process.initial]
    while waiting:
        place = waiting.pop()
        for _, transition in process.leaving(place):
            if transition.target not in reached:
                reached.add(transition.target)
                waiting.append(transition.target)
    return reached


def same_meaning(a: Program, b: Program) -> bool:
    """Whether the two are equal but for places in the text and restrictions of scope."""
    return replace(a, name=b.name) == b
