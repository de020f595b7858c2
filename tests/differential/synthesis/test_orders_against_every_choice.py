"""Order synthesis against trying every choice: one formula for all choices says what a formula for each one says, and
the least choice is the least of all that are enough."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from random import Random

import pytest

from memfence.axiomatic.library import models_named
from memfence.axiomatic.unroll import unroll
from memfence.engines.axiomatic.by_solver import first_violation
from memfence.engines.axiomatic.violations import Violation, as_seen_by, keeps_dependencies
from memfence.program.ir import Final, Program
from memfence.synthesis.orders.candidates import strengthened, with_candidate_fences
from memfence.synthesis.orders.least import Choice, LeastSearch
from memfence.synthesis.orders.oracle import OrderOracle
from memfence.synthesis.orders.places import OrderEdit, OrderPlace, edits_of, find_places
from memfence.synthesis.orders.prices import prices_of
from memfence.tasks.limits import Limits
from support.generators.order_choices import MODELS, closed_choices, program_with_places, unwanted

MOST_CHOICES = 300
"""Programs with more of them are left out: each is a search of its own."""


def violates(
    program: Program,
    places: Sequence[OrderPlace],
    edits: Sequence[OrderEdit],
    names: Sequence[str],
    choice: Choice,
    condition: Final,
) -> bool:
    """Slowly: the program with these orders, unrolled and encoded for this question alone."""
    added = [frozenset(edits[e].strength for e in choice if edits[e].place == n) for n in range(len(places))]
    changed = strengthened(program, zip(places, added, strict=True))
    for name in names:
        code = unroll(as_seen_by(name, changed, [condition]), 1)
        models = models_named(name)
        dependencies = keeps_dependencies(program, models)
        for model in models:
            found = first_violation(code, model, [condition], Limits(), dependencies=dependencies)
            if isinstance(found, Violation):
                return True
    return False


def check_seed(seed: int) -> bool:
    """Whether there was something to compare."""
    names = Random(seed).choice([*((name,) for name in MODELS), MODELS])
    program = program_with_places(seed)
    condition = unwanted(program, names, seed)
    candidates, points = with_candidate_fences(program)
    places = find_places(candidates, points)
    edits = edits_of(places)
    choices = list(islice(closed_choices(edits), MOST_CHOICES + 1))
    if condition is None or len(choices) > MOST_CHOICES:
        return False
    slow = {choice: violates(candidates, places, edits, names, choice, condition) for choice in choices}
    oracle = OrderOracle(candidates, places, edits, names, [condition], 1, Limits())
    assert {choice: oracle.violates(choice) for choice in choices} == slow
    prices, of_places = prices_of(candidates, places, edits, names, Random(seed).choice(["count", "cost"]))
    search = LeastSearch(edits, prices, of_places, oracle.violates)
    found = search.run(every=True)
    enough = [choice for choice, bad in slow.items() if not bad]
    assert (found.choice is None) == (not enough)
    if found.choice is not None:
        assert search.price(found.choice) == min(map(search.price, enough))
        assert set(found.sets) == {c for c in enough if not any(other < c for other in enough)}
    return True


def test_least_orders_are_the_least_of_all() -> None:
    compared = [seed for seed in range(25) if check_seed(seed)]
    assert len(compared) >= 3


@pytest.mark.slow
def test_least_orders_are_the_least_of_all_on_500() -> None:
    compared, seed = 0, 1000
    while compared < 500:
        compared += check_seed(seed)
        seed += 1
