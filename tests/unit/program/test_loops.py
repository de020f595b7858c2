"""Loop levels: how many loops are around a transition."""

from __future__ import annotations

from itertools import product

import pytest

from memfence.program.facts.loop_depth import loop_levels, strong_parts
from memfence.program.ir import Location, Process, Transition


def process(*edges: tuple[int, int], initial: int = 0) -> Process:
    size = 1 + max(max(edge) for edge in edges)
    locations = tuple(Location(f"l{n}") for n in range(size))
    return Process("P", "P", (), locations, initial, tuple(Transition(a, b) for a, b in edges))


@pytest.mark.parametrize(
    ("edges", "levels"),
    [
        pytest.param([(0, 1), (1, 2)], (0, 0), id="straight"),
        pytest.param([(0, 1), (1, 0), (0, 2)], (1, 1, 0), id="loop"),
        pytest.param([(0, 0), (0, 1)], (1, 0), id="spin"),
        pytest.param([(0, 1), (1, 2), (2, 1), (1, 0), (0, 3)], (1, 2, 2, 1, 0), id="nested"),
        pytest.param([(0, 1), (1, 1), (1, 2), (2, 2), (2, 0)], (1, 2, 1, 2, 1), id="two inside one"),
        pytest.param([(0, 1), (1, 0), (0, 2), (2, 0)], (1, 1, 1, 1), id="two from one head"),
        pytest.param([(0, 1), (0, 2), (1, 2), (2, 1)], (0, 0, 1, 1), id="entered at two places"),
        pytest.param([(1, 2), (2, 1), (0, 0)], (1, 1, 1), id="unreachable"),
    ],
)
def test_levels_of(edges: list[tuple[int, int]], levels: tuple[int, ...]) -> None:
    assert loop_levels(process(*edges)) == levels


def test_parts_are_those_that_reach_each_other() -> None:
    places = range(3)
    every = list(product(places, places))
    for bits in range(1, 1 << len(every)):
        edges = [edge for n, edge in enumerate(every) if bits >> n & 1]
        reach = {(a, a) for edge in edges for a in edge} | set(edges)
        for middle, a, b in product(places, places, places):
            if (a, middle) in reach and (middle, b) in reach:
                reach.add((a, b))
        part_of = strong_parts(edges)
        for a, b in product(part_of, part_of):
            assert (part_of[a] == part_of[b]) == ((a, b) in reach and (b, a) in reach)


def test_a_long_chain_needs_no_recursion() -> None:
    chain = [(n, n + 1) for n in range(20_000)]
    assert set(loop_levels(process(*chain))) == {0}
    assert set(loop_levels(process(*chain, (20_000, 0)))) == {1}
