"""Eliminating vertices forbids exactly the assignments whose edges have a cycle."""

from __future__ import annotations

from random import Random

import pytest

from memfence.digraph import is_acyclic
from memfence.engines.axiomatic.acyclic import forbid_cycles
from memfence.engines.axiomatic.base import Rows
from memfence.engines.axiomatic.clauses import TRUE, Clauses
from memfence.engines.axiomatic.sat import Sat
from memfence.tasks.limits import Limits


def random_rows(random: Random, clauses: Clauses, size: int) -> Rows:
    """Edges with literals of their own, shared ones, and some that are always there."""
    shared = [clauses.fresh() for _ in range(3)]

    def literal() -> int:
        kind = random.random()
        return TRUE if kind < 0.15 else random.choice(shared) if kind < 0.4 else clauses.fresh()

    return [{b: literal() for b in range(size) if random.random() < 0.35} for _ in range(size)]


@pytest.mark.parametrize("seed", range(60))
def test_exactly_cycles_are_forbidden(seed: int) -> None:
    random, clauses = Random(seed), Clauses()
    rows = random_rows(random, clauses, random.randint(2, 7))
    condition = clauses.fresh()
    forbid_cycles(clauses, rows, condition, lambda a, b: 0)
    literals = sorted({literal for row in rows for literal in row.values()} - {TRUE})
    sat = Sat(clauses, Limits())
    for _ in range(20):
        share = random.random()
        true = {TRUE, *(literal for literal in literals if random.random() < share)}
        chosen = [literal if literal in true else -literal for literal in literals]
        there = is_acyclic(len(rows), lambda node, true=true: [b for b, n in rows[node].items() if n in true])  # type: ignore[misc]
        assert (sat.solve([condition, *chosen]) is not None) == there
        assert sat.solve([-condition, *chosen]) is not None
