"""Hitting sets: the cheapest first, all minimal ones, and stronger fences in place of weaker ones."""

from __future__ import annotations

from itertools import chain, combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from memfence.program.ir import FencePoint
from memfence.source import NOWHERE
from memfence.synthesis.hitting_set import HittingSets
from memfence.synthesis.sites import FenceEdit


def edit(number: int, kind: str = "mfence", weaker: int | None = None) -> FenceEdit:
    point = FencePoint("P", str(number), NOWHERE)
    return FenceEdit(number, kind, point, frozenset({(0, number)}), 1, 0, (0,), False, weaker)  # type: ignore[arg-type]


def all_minimal(sets: HittingSets) -> list[frozenset[int]]:
    found = []
    while (choice := sets.cheapest()) is not None:
        found.append(choice)
        sets.block(choice)
    return found


SIZE = 5
CLAUSES = st.lists(st.frozensets(st.integers(0, SIZE - 1), min_size=1), max_size=6)
PRICES = st.lists(st.integers(1, 4), min_size=SIZE, max_size=SIZE)


@given(CLAUSES, PRICES)
@settings(max_examples=150, deadline=None)
def test_all_minimal_hitting_sets_come_in_the_order_of_their_price(
    clauses: list[frozenset[int]], prices: list[int]
) -> None:
    sets = HittingSets([edit(n) for n in range(SIZE)], prices)
    for clause in clauses:
        sets.add(clause)
    found = all_minimal(sets)
    subsets = map(frozenset, chain.from_iterable(combinations(range(SIZE), n) for n in range(SIZE + 1)))
    hitting = [choice for choice in subsets if all(choice & clause for clause in clauses)]
    minimal = {choice for choice in hitting if not any(other < choice for other in hitting)}
    assert set(found) == minimal
    paid = [sum(prices[n] for n in choice) for choice in found]
    assert paid == sorted(paid)


def test_an_mfence_meets_a_clause_that_asks_for_its_sfence() -> None:
    edits = [edit(0, "sfence"), edit(1, "mfence", weaker=0)]
    sets = HittingSets(edits, [2, 10])
    sets.add([0, 1])
    assert sets.cheapest() == {0}
    sets.add([1])
    assert sets.cheapest() == {1}, "the sfence is of no more use"


def test_one_mfence_wins_over_two_sfences_only_where_it_is_cheaper() -> None:
    edits = [edit(0, "sfence"), edit(1, "mfence", weaker=0), edit(2, "sfence")]
    for prices, expected in (([2, 3, 2], {1}), ([2, 10, 2], {0, 2})):
        sets = HittingSets(edits, prices)
        sets.add([0])
        sets.add([1, 2])
        assert sets.cheapest() == expected


def test_an_empty_clause_leaves_nothing() -> None:
    sets = HittingSets([edit(0)], [1])
    sets.add([])
    assert sets.cheapest() is None
