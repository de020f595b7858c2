"""The loops that choose edits, against brute force, with an oracle that tells one clause at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memfence.program.ir import FencePoint
from memfence.source import NOWHERE
from memfence.synthesis.clauses import Clause
from memfence.synthesis.hitting_loop import Search, prices_of
from memfence.synthesis.oracles import Answer, Choice
from memfence.synthesis.sites import FenceEdit
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Stop

SIZE = 6
Family = list[frozenset[int]]
FAMILIES = st.lists(st.frozensets(st.integers(0, SIZE - 1), min_size=1, max_size=4), max_size=8)
GREED_FAILS: Family = [frozenset({0, 3}), frozenset({1, 3}), frozenset({2, 3})]


class Lazy:
    """Knows which clauses must be met, and names the first that a choice misses."""

    def __init__(self, family: Family, gives_up_at: int | None = None) -> None:
        self.edits: Sequence[FenceEdit] = [_edit(number) for number in range(SIZE)]
        self.clauses: Sequence[Clause] = ()
        self.family = family
        self.gives_up_at = gives_up_at
        self.checks = self.states = 0

    def ask(self, choice: Choice) -> Answer:
        self.checks += 1
        if self.checks == self.gives_up_at:
            return Answer(Verdict.UNKNOWN, stop=Stop.TIMEOUT)
        for clause in self.family:
            if choice.isdisjoint(clause):
                return Answer(Verdict.VIOLATED, Clause(tuple(sorted(clause)), lambda: None))
        return Answer(Verdict.HOLDS)

    def ask_quickly(self, choice: Choice) -> Answer:
        return self.ask(choice)


def _edit(number: int) -> FenceEdit:
    effect = frozenset({(0, number)})
    return FenceEdit(number, "mfence", FencePoint("P", str(number), NOWHERE), effect, 10, 0, (0,))


def search(oracle: Lazy) -> Search:
    return Search(oracle, prices_of(oracle.edits, "count"))


def minimal(family: Family) -> set[Choice]:
    subsets = map(frozenset, chain.from_iterable(combinations(range(SIZE), n) for n in range(SIZE + 1)))
    enough = [choice for choice in subsets if all(choice & clause for clause in family)]
    return {choice for choice in enough if not any(other < choice for other in enough)}


@given(FAMILIES)
@example(GREED_FAILS)
@settings(max_examples=100, deadline=None)
def test_a_minimum_is_as_small_as_brute_force_finds(family: Family) -> None:
    found = search(Lazy(family)).minimum()
    assert found.holds and found.is_minimum and found.choice is not None
    assert all(found.choice & clause for clause in family)
    assert len(found.choice) == min(map(len, minimal(family)))


@given(FAMILIES)
@example(GREED_FAILS)
@settings(max_examples=100, deadline=None)
def test_every_minimal_set_is_listed_smallest_first(family: Family) -> None:
    found = search(Lazy(family)).every_minimal()
    assert found.are_all
    assert set(found.sets) == minimal(family)
    assert [len(choice) for choice in found.sets] == sorted(len(choice) for choice in found.sets)


@given(FAMILIES)
@example(GREED_FAILS)
@settings(max_examples=100, deadline=None)
def test_of_the_first_set_nothing_can_be_dropped(family: Family) -> None:
    found = search(Lazy(family)).first()
    assert found.holds
    assert found.choice in minimal(family)


@given(FAMILIES, st.integers(1, 12))
@settings(max_examples=100, deadline=None)
def test_what_is_not_proved_is_never_called_a_minimum(family: Family, gives_up_at: int) -> None:
    found = search(Lazy(family, gives_up_at)).minimum()
    assert found.choice is not None
    if found.holds:
        assert all(found.choice & clause for clause in family)
    if found.is_minimum:
        assert found.holds and len(found.choice) == min(map(len, minimal(family)))


@pytest.mark.parametrize("way", ["minimum", "every_minimal", "first"])
def test_a_clause_without_edits_refutes_every_choice(way: str) -> None:
    found = getattr(search(Lazy([frozenset({0}), frozenset()])), way)()
    assert found.choice is None and not found.holds
    assert found.refuted_by is not None and found.refuted_by.edits == ()
