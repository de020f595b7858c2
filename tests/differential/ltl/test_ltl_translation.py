"""LTL by automata against LTL by definition, on random formulas and random ultimately periodic words."""

from __future__ import annotations

from random import Random

import pytest

from memfence.questions.ltl.evaluate import Lasso, accepts, holds
from memfence.questions.ltl.fairness import peel
from memfence.questions.ltl.formula import Atom, Not, all_of, always, eventually, formula_text, implies, normal_form
from memfence.questions.ltl.simplify import simplify
from memfence.questions.ltl.translate import tableau, translate
from support.generators.ltl_words import random_formula, random_lasso

WORDS = 12


def check_formula(seed: int) -> None:
    """Every stage of the translation means the same as the formula itself, on each of the words."""
    random = Random(seed)
    formula = random_formula(random, random.randint(2, 12))
    simpler = simplify(normal_form(formula))
    peeled = peel(simpler)
    plain, reduced, rest = tableau(simpler), translate(formula), translate(peeled.formula)
    for lasso in (random_lasso(random) for _ in range(WORDS)):
        expected = holds(formula, lasso)
        recurring = all(holds(always(eventually(condition)), lasso) for condition in peeled.recurring)
        found = {
            "negation": not holds(normal_form(formula, True), lasso),
            "simplification": holds(simpler, lasso),
            "tableau": accepts(plain, lasso),
            "reduction": accepts(reduced, lasso),
            "peeling": recurring and accepts(rest, lasso),
        }
        wrong = [stage for stage, answer in found.items() if answer != expected]
        assert not wrong, f"seed {seed}, {formula_text(formula)} on {lasso}: {wrong}"


def test_automata_accept_exactly_the_words_that_satisfy_300_formulas() -> None:
    for seed in range(300):
        check_formula(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_automata_accept_exactly_the_words_that_satisfy_5000_formulas(block: int) -> None:
    for seed in range(1000 + 500 * block, 1000 + 500 * (block + 1)):
        check_formula(seed)


@pytest.mark.parametrize("seed", range(20))
def test_a_formula_and_its_negation_never_share_a_word(seed: int) -> None:
    random = Random(f"disjoint {seed}")
    formula = random_formula(random, 10)
    yes, no = translate(formula), translate(normal_form(formula, True))
    for _ in range(20):
        lasso = random_lasso(random)
        assert accepts(yes, lasso) != accepts(no, lasso)


@pytest.mark.parametrize("seed", range(20))
def test_a_rotated_word_satisfies_the_same_formulas(seed: int) -> None:
    """The evaluation on lassos does not depend on where the loop is cut."""
    random = Random(f"rotate {seed}")
    formula = random_formula(random, 10)
    lasso = random_lasso(random)
    rotated = Lasso((*lasso.prefix, lasso.loop[0]), (*lasso.loop[1:], lasso.loop[0]))
    unrolled = Lasso(lasso.prefix, lasso.loop + lasso.loop)
    assert holds(formula, lasso) == holds(formula, rotated) == holds(formula, unrolled)


def test_peeling_leaves_a_formula_of_fixed_size_for_any_number_of_fairness_premises() -> None:
    response = always(implies(Atom(0), eventually(Atom(1))))
    premises = all_of(always(eventually(Atom(2 + n))) for n in range(24))
    peeled = peel(simplify(normal_form(Not(implies(premises, response)))))
    assert len(peeled.recurring) == 24
    assert translate(peeled.formula).size == (2, 3, 1)
