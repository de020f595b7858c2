"""A stronger order at any place, or a fence, only removes outcomes: order synthesis relies on it."""

from __future__ import annotations

from random import Random

import pytest

from memfence.axiomatic.library import models_named
from memfence.models.cat.polarity import offences
from memfence.synthesis.orders.candidates import strengthened, with_candidate_fences
from memfence.synthesis.orders.places import edits_of, find_places
from support.generators.order_choices import MODELS, outcomes, program_with_places

NAMES = (*MODELS, "sc", "pso")


def check_seed(seed: int, name: str) -> None:
    """One random edit of one random program."""
    candidates, points = with_candidate_fences(program_with_places(seed))
    places = find_places(candidates, points)
    edits = edits_of(places)
    if not edits:
        return
    edit = Random(seed).choice(edits)
    place = places[edit.place]
    more = frozenset(place.addable) if edit.strength == "seq_cst" else frozenset({edit.strength})
    assert outcomes(strengthened(candidates, [(place, more)]), name) <= outcomes(candidates, name)


@pytest.mark.parametrize("name", NAMES)
def test_stronger_orders_remove_outcomes(name: str) -> None:
    for seed in range(8):
        check_seed(seed, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_stronger_orders_remove_outcomes_of_1000(name: str) -> None:
    for seed in range(10_000, 11_000):
        check_seed(seed, name)


@pytest.mark.parametrize("name", NAMES)
def test_the_texts_of_the_models_say_so(name: str) -> None:
    for model in models_named(name):
        assert offences(model.cat) == ()
