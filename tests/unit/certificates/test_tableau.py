"""The automaton of the runs that refute a formula, against the definition of LTL: on it all checkers of ranks rely."""

from __future__ import annotations

from random import Random

import pytest

from memfence.certificates.checker.tableau import Refuting, refuting_formula
from memfence.digraph import components
from memfence.questions.ltl.evaluate import Lasso, holds
from memfence.questions.ltl.formula import formula_text
from support.generators.ltl_words import random_formula, random_lasso

WORDS = 12


def accepts(refuting: Refuting, lasso: Lasso) -> bool:
    """Whether some way through the automaton visits every mark again and again along the word."""
    letters = (*lasso.prefix, *lasso.loop)
    places = [(0, refuting.initial)]
    numbers = {places[0]: 0}
    after: list[list[tuple[int, frozenset[int]]]] = []
    for at, node in places:  # grows while it is gone through
        truth = {n for n in range(3) if letters[at] >> n & 1}
        following = at + 1 if at + 1 < len(letters) else len(lasso.prefix)
        after.append([])
        for move in refuting.moves[node]:
            if move.positive <= truth and not move.negative & truth:
                place = (following, move.target)
                if place not in numbers:
                    numbers[place] = len(places)
                    places.append(place)
                after[-1].append((numbers[place], move.marks))
    component = components(len(places), lambda place: (target for target, _ in after[place]))
    visited: dict[int, set[int]] = {}
    for place, leaving in enumerate(after):
        for target, marks in leaving:
            if component[place] == component[target]:
                visited.setdefault(component[place], set()).update(marks)
    return any(len(marks) == refuting.marks for marks in visited.values())


def check_formula(seed: int) -> None:
    random = Random(seed)
    formula = random_formula(random, random.randint(2, 9))
    refuting = refuting_formula(formula, ())
    for lasso in (random_lasso(random) for _ in range(WORDS)):
        assert accepts(refuting, lasso) != holds(formula, lasso), f"{seed}: {formula_text(formula)} on {lasso}"


def test_exactly_the_words_on_which_a_formula_is_false_are_accepted() -> None:
    for seed in range(150):
        check_formula(seed)


@pytest.mark.slow
def test_exactly_the_words_on_which_many_formulas_are_false_are_accepted() -> None:
    for seed in range(1000, 4000):
        check_formula(seed)
