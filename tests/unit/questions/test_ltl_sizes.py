"""Sizes of automata for negated properties: at most those of a plain tableau, and mostly those of the best translators.

Each row: the property, then (states, edges, marks) of a Couvreur tableau without reductions, then those that must not
grow. `docs/theory/ltl.md` shows them beside Spin's.
"""

from __future__ import annotations

import pytest

from memfence.questions.ltl.formula import (
    Atom,
    Formula,
    Not,
    Release,
    Until,
    all_of,
    always,
    any_of,
    eventually,
    implies,
)
from memfence.questions.ltl.translate import translate

A, B, C, D = (Atom(n) for n in range(4))
RESPONSE = always(implies(Atom(18), eventually(Atom(19))))


def infinitely_often(formula: Formula) -> Formula:
    return always(eventually(formula))


def fair(count: int) -> Formula:
    return implies(all_of(infinitely_often(Atom(n)) for n in range(count)), RESPONSE)


def weak(count: int) -> Formula:
    pairs = [(Atom(2 * n), Atom(2 * n + 1)) for n in range(count)]
    return implies(all_of(implies(eventually(always(e)), infinitely_often(x)) for e, x in pairs), RESPONSE)


def strong(count: int) -> Formula:
    pairs = [(Atom(2 * n), Atom(2 * n + 1)) for n in range(count)]
    return implies(all_of(implies(infinitely_often(e), infinitely_often(x)) for e, x in pairs), RESPONSE)


Size = tuple[int, int, int]
ROWS: dict[str, tuple[Formula, Size, Size]] = {
    "G(w -> F c)": (always(implies(A, eventually(B))), (2, 3, 1), (2, 3, 1)),
    "GF p": (infinitely_often(A), (2, 3, 1), (2, 3, 1)),
    "G(!c -> F c)": (always(implies(Not(A), eventually(A))), (2, 3, 1), (2, 3, 1)),
    "G(a && b -> (!b R (a || !b)))": (
        always(implies(all_of((A, B)), Release(Not(B), any_of((A, Not(B)))))), (3, 5, 2), (3, 5, 1),
    ),
    "G(p -> q U r)": (always(implies(A, Until(B, C))), (3, 6, 1), (3, 6, 1)),
    "p U (q U r)": (Until(A, Until(B, C)), (3, 7, 0), (3, 6, 0)),
    "GF p -> GF q": (implies(infinitely_often(A), infinitely_often(B)), (2, 6, 2), (2, 4, 1)),
    "FG p": (eventually(always(A)), (1, 2, 1), (1, 2, 1)),
    "two responses": (
        all_of((always(implies(A, eventually(B))), always(implies(C, eventually(D))))), (5, 10, 2), (3, 5, 1),
    ),
    "fair 1": (fair(1), (2, 6, 2), (2, 4, 1)),
    "fair 2": (fair(2), (2, 12, 3), (2, 6, 2)),
    "fair 3": (fair(3), (2, 24, 4), (2, 10, 3)),
    "fair 4": (fair(4), (2, 48, 5), (2, 18, 4)),
    "fair 6": (fair(6), (2, 192, 7), (2, 66, 6)),
    "fair 8": (fair(8), (2, 768, 9), (2, 258, 8)),
    "weak 1": (weak(1), (5, 20, 3), (2, 5, 1)),
    "weak 2": (weak(2), (9, 80, 5), (2, 11, 2)),
    "weak 3": (weak(3), (17, 320, 7), (2, 29, 3)),
    "weak 4": (weak(4), (33, 1280, 9), (2, 83, 4)),
    "strong 1": (strong(1), (7, 23, 3), (6, 15, 1)),
    "strong 2": (strong(2), (19, 107, 5), (12, 37, 2)),
    "strong 3": (strong(3), (55, 503, 7), (24, 87, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_the_automaton_of_the_negation_is_small(name: str) -> None:
    formula, plain, expected = ROWS[name]
    size = translate(Not(formula)).size
    assert all(ours <= theirs for ours, theirs in zip(size, plain, strict=True))
    assert all(ours <= best for ours, best in zip(size, expected, strict=True)), f"{size} has grown from {expected}"
