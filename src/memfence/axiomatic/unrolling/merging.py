"""Locations from where a process does the same are one: front ends copy the first round of a loop."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from memfence.program.ir import Assert, Op, Process, Transition


def merge_alike(process: Process, apart: frozenset[int]) -> Process:
    """The process where every step leads to the first of all locations that are alike. Numbers stay.

    Alike: a process may end at both or at neither, and the same steps of the same places in the text lead to locations
    that are alike. `apart`: like nothing else.
    """
    leaving: dict[int, list[Transition]] = {}
    for transition in process.transitions:
        leaving.setdefault(transition.source, []).append(transition)
    kinds: list[Hashable] = [here if here in apart else -1 - at.may_end for here, at in enumerate(process.locations)]
    count = 0
    while count != len(set(kinds)):
        count = len(set(kinds))
        kinds = [
            (kinds[here], frozenset(_looks(t, kinds) for t in leaving.get(here, ()))) for here in range(len(kinds))
        ]
        numbers: dict[Hashable, int] = {}
        kinds = [numbers.setdefault(kind, len(numbers)) for kind in kinds]
    first = [kinds.index(kind) for kind in kinds]
    moved = tuple(replace(t, target=first[t.target]) for t in process.transitions)
    return replace(process, transitions=moved, initial=first[process.initial])


def _looks(transition: Transition, kinds: list[Hashable]) -> Hashable:
    place = (transition.span.start, transition.span.end, transition.span.source.path)
    errors = tuple(map(error_of, transition.ops))
    return transition.ops, errors, transition.locked, transition.sync, place, transition.calls, kinds[transition.target]


def error_of(op: Op | None) -> str:
    """What is wrong where the op fails: two ops that differ in nothing else are not alike."""
    return op.error if isinstance(op, Assert) else ""
