"""Random LTL formulas and random ultimately periodic words, by seed."""

from __future__ import annotations

from random import Random

from memfence.questions.ltl.evaluate import Lasso
from memfence.questions.ltl.formula import (
    FALSE,
    TRUE,
    Atom,
    Formula,
    Next,
    Not,
    Release,
    Until,
    all_of,
    always,
    any_of,
    equivalent,
    eventually,
)


def random_formula(random: Random, size: int, atoms: int = 3) -> Formula:
    """A formula with about `size` operators and operands; temporal operators twice as often as the others."""
    if size <= 1:
        return random.choice([*(Atom(n) for n in range(atoms)), *(Atom(n) for n in range(atoms)), TRUE, FALSE])
    match random.choice("!!&&||=XUURRFFGG"):
        case "!":
            return Not(random_formula(random, size - 1, atoms))
        case "X":
            return Next(random_formula(random, size - 1, atoms))
        case "F":
            return eventually(random_formula(random, size - 1, atoms))
        case "G":
            return always(random_formula(random, size - 1, atoms))
        case sign:
            left_size = random.randint(1, size - 1)
            left, right = random_formula(random, left_size, atoms), random_formula(random, size - left_size, atoms)
            combined = {"&": all_of((left, right)), "|": any_of((left, right)), "=": equivalent(left, right)}
            return combined.get(sign) or (Until(left, right) if sign == "U" else Release(left, right))


def random_lasso(random: Random, atoms: int = 3) -> Lasso:
    def letters(count: int) -> tuple[int, ...]:
        return tuple(random.randrange(2**atoms) for _ in range(count))

    return Lasso(letters(random.randrange(4)), letters(random.randint(1, 4)))
