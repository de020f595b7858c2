"""The search for the least strengthening, against trying every choice, on random monotone questions."""

from __future__ import annotations

import random
from itertools import chain, combinations

import pytest

from memfence.synthesis.orders.least import Choice, LeastSearch
from memfence.synthesis.orders.places import OrderEdit
from memfence.synthesis.orders.strengths import POSSIBLE, Kind


def random_edits(generator: random.Random) -> list[OrderEdit]:
    kinds: list[Kind] = ["load", "store", "rmw", "new fence"]
    places = [generator.choice(kinds) for _ in range(generator.randint(1, 3))]
    return [OrderEdit(i, strength) for i, kind in enumerate(places) for strength in POSSIBLE[kind]]


def closed_choices(edits: list[OrderEdit]) -> list[Choice]:
    """Every choice in which seq_cst comes with the other strengths of its place."""
    numbers = range(len(edits))
    every = chain.from_iterable(combinations(numbers, size) for size in range(len(edits) + 1))
    return [frozenset(choice) for choice in every if is_closed(edits, frozenset(choice))]


def is_closed(edits: list[OrderEdit], choice: Choice) -> bool:
    full = {edits[n].place for n in choice if edits[n].strength == "seq_cst"}
    return all(n in choice for n, edit in enumerate(edits) if edit.place in full)


@pytest.mark.parametrize("seed", range(150))
def test_the_least_choice_is_the_least_of_all(seed: int) -> None:
    generator = random.Random(seed)
    edits = random_edits(generator)
    bad = [frozenset(generator.sample(range(len(edits)), generator.randint(1, 2))) for _ in range(4)]
    enough = [frozenset(generator.sample(range(len(edits)), generator.randint(1, len(edits)))) for _ in range(2)]

    def violates(choice: Choice) -> bool:
        return not any(need <= choice for need in enough) and any(not need <= choice for need in bad)

    prices = [generator.randint(1, 9) for _ in edits]
    places = [generator.randint(0, 20) for _ in range(3)]
    search = LeastSearch(edits, prices, places, violates)
    found = search.run(every=True)
    holding = [choice for choice in closed_choices(edits) if not violates(choice)]
    assert (found.choice is None) == (not holding)
    if found.choice is not None:
        assert search.price(found.choice) == min(map(search.price, holding))
        assert set(found.sets) == {c for c in holding if not any(other < c for other in holding)}
        assert found.are_all


def test_nothing_to_do_asks_once() -> None:
    found = LeastSearch([OrderEdit(0, "acquire")], [1], [1], lambda _: False).run(every=True)
    assert (found.choice, found.asked, found.sets) == (frozenset(), 1, (frozenset(),))


def test_what_no_edit_stops() -> None:
    found = LeastSearch([OrderEdit(0, "acquire")], [1], [1], lambda _: True).run()
    assert found.choice is None
    assert frozenset() in found.clauses
