"""A loop with all marks, found backwards in a set of states each of which has every mark somewhere before it.

From any state go back to the nearest arc with a mark, from there to the nearest with one that is missing, and so on;
then try to come back to where the tour began. Where that is not possible, the tour has left the component of its start
for one that lies before it; so begin again from there. Components have an order, so that this ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from memfence.records import Record

State = tuple[int, int]
"""Its owner, and its number there."""
Arcs = Callable[[Sequence[State]], list[list[tuple[int, int, int]]]]
"""For each state the arcs into it: the owner and number of where they come from, and their marks."""


Way = list[tuple[State, int]]
"""Backwards: each arc by where it comes from, and its marks; the last arc of the run first."""


class Loop(Record):
    """States in the order of the run, the first again at the end; the marks of the arcs between them."""

    states: tuple[State, ...]
    marks: tuple[int, ...]


def find_loop(start: State, all_marks: int, arcs_into: Arcs) -> Loop:
    """A loop with all marks among states before `start`."""
    while True:
        tour = _tour(start, all_marks, arcs_into)
        begin = tour[-1][0]
        if begin == start:
            return _loop(start, tour)
        back = _back(begin, partial(_is_from, start), arcs_into)
        if back is not None:
            return _loop(start, [*tour, *back])
        start = begin


def _is_from(wanted: State, source: State, marks: int) -> bool:
    return source == wanted


def _has_some(wanted: int, source: State, marks: int) -> bool:
    return not wanted or bool(marks & wanted)


def _tour(start: State, all_marks: int, arcs_into: Arcs) -> Way:
    """Backwards from `start` by arcs that have all marks between them, one arc at least."""
    tour: Way = []
    missing = all_marks
    while missing or not tour:
        at = tour[-1][0] if tour else start
        way = _back(at, partial(_has_some, missing), arcs_into)
        assert way is not None, "a state that is left has every mark before it"
        tour += way
        for _, marks in way:
            missing &= ~marks
    return tour


def _back(start: State, is_goal: Callable[[State, int], bool], arcs_into: Arcs) -> Way | None:
    """The shortest way back from `start` by an arc that is a goal; None where there is none."""
    after: dict[State, tuple[State, int] | None] = {start: None}
    level = [start]
    while level:
        following: list[State] = []
        for state, arcs in zip(level, arcs_into(level), strict=True):
            for owner, index, marks in arcs:
                source = owner, index
                if is_goal(source, marks):
                    return [*_arcs_to(state, after), (source, marks)]
                if source not in after:
                    after[source] = state, marks
                    following.append(source)
        level = following
    return None


def _arcs_to(state: State, after: dict[State, tuple[State, int] | None]) -> Way:
    """The arcs from the start of a search to `state`, which it has come to."""
    arcs: Way = []
    step = after[state]
    while step is not None:
        arcs.append((state, step[1]))
        state = step[0]
        step = after[state]
    return arcs[::-1]


def _loop(start: State, backwards: Way) -> Loop:
    """The loop whose arcs are given from its end to its begin, both of which are `start`."""
    states = [start, *(source for source, _ in backwards)]
    return Loop(tuple(reversed(states)), tuple(marks for _, marks in reversed(backwards)))
