"""Removing locations: everything that knows a location by its number is told the new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from memfence.program.expressions import At, Expr, rewrite
from memfence.program.ir import Process, Program
from memfence.program.traversal import map_property, map_transition


def keep_locations(program: Program, kept: Sequence[frozenset[int]]) -> Program:
    """`program` with only the `kept` locations of each process, and only the transitions between them.

    `At` is renumbered in ops, properties and what properties may use; a removed location is never reached, so it just
    leaves the set.
    """
    if all(len(k) == len(p.locations) for k, p in zip(kept, program.processes, strict=True)):
        return program
    numbers = [{old: new for new, old in enumerate(sorted(k))} for k in kept]

    def leaf(expr: Expr) -> Expr:
        if isinstance(expr, At):
            number = numbers[expr.process]
            return At(expr.process, frozenset(number[n] for n in expr.locations if n in number))
        return expr

    def renumber(expr: Expr) -> Expr:
        return rewrite(expr, leaf)

    processes = tuple(_renumbered(p, n, renumber) for p, n in zip(program.processes, numbers, strict=True))
    properties = tuple(map_property(prop, renumber) for prop in program.properties)
    error = program.error_locations
    if error is not None:
        error = tuple(number[location] for number, location in zip(numbers, error, strict=True))
    meanings = tuple((word, renumber(meaning)) for word, meaning in program.meanings)
    return replace(program, processes=processes, properties=properties, error_locations=error, meanings=meanings)


def _renumbered(process: Process, number: Mapping[int, int], renumber: Callable[[Expr], Expr]) -> Process:
    transitions = tuple(
        replace(map_transition(t, renumber), source=number[t.source], target=number[t.target])
        for t in process.transitions
        if t.source in number and t.target in number
    )
    locations = tuple(process.locations[old] for old in number)
    return replace(process, locations=locations, initial=number[process.initial], transitions=transitions)
