"""How deep in loops a transition lies: what runs often costs more when it is made slower."""

from __future__ import annotations

from collections.abc import Iterable

from memfence.digraph import components
from memfence.program.ir import Process


def loop_levels(process: Process) -> tuple[int, ...]:
    """For each transition the number of nested loops it is part of.

    A loop is a strongly connected part of the control flow; inside it, without the ways back to where it is entered,
    come the inner loops. Where control flow has structure, these are the loops of the text; loops that are entered at
    the same place count as one.
    """
    levels = [0] * len(process.transitions)
    todo: list[tuple[list[int], set[int]]] = [(list(range(len(levels))), {process.initial})]
    while todo:
        numbers, entered = todo.pop()
        ends = {n: (process.transitions[n].source, process.transitions[n].target) for n in numbers}
        part_of = strong_parts(ends.values())
        inside: dict[int, list[int]] = {}
        entries: dict[int, set[int]] = {}
        for place in entered & part_of.keys():
            entries.setdefault(part_of[place], set()).add(place)
        for number, (source, target) in ends.items():
            if part_of[source] == part_of[target]:
                inside.setdefault(part_of[source], []).append(number)
            else:
                entries.setdefault(part_of[target], set()).add(target)
        for part, loop in inside.items():
            heads = entries.get(part) or {min(ends[n][0] for n in loop)}
            for number in loop:
                levels[number] += 1
            todo.append(([n for n in loop if ends[n][1] not in heads], heads))
    return tuple(levels)


def strong_parts(edges: Iterable[tuple[int, int]]) -> dict[int, int]:
    """For each node the smallest node of its strongly connected part."""
    after: dict[int, list[int]] = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
        after.setdefault(target, [])
    nodes = sorted(after)
    number = {node: n for n, node in enumerate(nodes)}
    component = components(len(nodes), lambda n: (number[target] for target in after[nodes[n]]))
    smallest: dict[int, int] = {}
    for node in nodes:
        smallest.setdefault(component[number[node]], node)
    return {node: smallest[component[number[node]]] for node in after}
