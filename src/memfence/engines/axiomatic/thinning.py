"""Fewer steps with the same ways: what follows from two other steps, wherever both its events happen, is left out."""

from __future__ import annotations

from memfence.engines.axiomatic.base import Base, Rows
from memfence.engines.axiomatic.clauses import Clauses
from memfence.models.cat.relations import mask_of


def thinned(base: Base, rows: Rows) -> Rows:
    """Steps with the same transitive closure.

    A step from a to b within a thread is left out where an event between them has both steps, unconditionally, and
    happens wherever a or b does. The steps that stand in for it are shorter, so this ends.
    """
    always = [
        mask_of(b for b, literal in row.items() if b > a and literal == base.together(a, b))
        for a, row in enumerate(rows)
    ]
    into = _columns(always)
    implied = _implied(base)
    return [
        {
            b: literal
            for b, literal in row.items()
            if b <= a or not (always[a] & into[b] & (implied[a] | implied[b]) & ~(1 << a | 1 << b))
        }
        for a, row in enumerate(rows)
    ]


def _columns(rows: list[int]) -> list[int]:
    columns = [0] * len(rows)
    for a, row in enumerate(rows):
        while row:
            low = row & -row
            columns[low.bit_length() - 1] |= 1 << a
            row ^= low
    return columns


def _implied(base: Base) -> list[int]:
    """For each event, those that happen wherever it does."""
    known: dict[int, int] = {}
    for literal in base.here:
        if literal not in known:
            known[literal] = mask_of(n for n, here in enumerate(base.here) if is_implied(base.clauses, here, literal))
    return [known[literal] for literal in base.here]


def is_implied(clauses: Clauses, literal: int, by: int) -> bool:
    """Whether it is plain that one literal is true wherever the other is."""
    return clauses.leaves(literal) <= clauses.leaves(by)
