"""The loops that choose edits: minimum sets by implicit hitting sets, all minimal sets, and the papers' greedy loop.

Minimum: take the cheapest choice that meets all clauses known so far and ask the oracle; while it does not hold, learn
a clause that it misses. A choice that holds is a minimum, and the clauses are the proof. Before the next choice is
taken, the last one is extended until it holds: many clauses an iteration, and a set that is good enough if time runs
out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memfence.records import Record
from memfence.synthesis.clauses import Clause
from memfence.synthesis.hitting_set import HittingSets
from memfence.synthesis.options import Minimise
from memfence.synthesis.oracles import Answer, Choice, Oracle, closure
from memfence.synthesis.sites import FenceEdit
from memfence.tasks.answer import Verdict

MOST_SETS = 1000
"""How many minimal sets are listed."""


class Found(Record):
    """What a search gave. `choice` is None where no choice can hold; then `refuted_by` is the clause that nothing
    meets.

    `holds`: proved to hold with `choice`; `is_minimum`: and nothing cheaper holds. `answer` is the last one about it.
    `sets`: all minimal choices, cheapest first, if asked for; `are_all`: and there are no others.
    """

    choice: Choice | None
    holds: bool = False
    is_minimum: bool = False
    answer: Answer | None = None
    refuted_by: Clause | None = None
    sets: tuple[Choice, ...] = ()
    are_all: bool = False


@dataclass(slots=True)
class Search:
    """Clauses learnt so far, and the questions that are still to be asked."""

    oracle: Oracle
    prices: Sequence[int]
    shrinks: bool = True
    clauses: list[Clause] = field(default_factory=list)
    _sets: HittingSets = field(init=False)

    def __post_init__(self) -> None:
        self._sets = HittingSets(self.oracle.edits, self.prices)
        for clause in self.oracle.clauses:
            self._learn(clause)

    def price(self, choice: Choice) -> int:
        return sum(self.prices[number] for number in choice)

    def minimum(self) -> Found:
        """A choice of least price that holds."""
        best: Found | None = None
        while True:
            choice = self._sets.cheapest()
            if choice is None:
                return Found(None, refuted_by=self._unmet())
            if best is not None and best.choice is not None and self.price(choice) >= self.price(best.choice):
                return Found(best.choice, True, True, best.answer)
            answer = self.oracle.ask(choice)
            if answer.verdict is Verdict.HOLDS:
                return Found(choice, True, True, answer)
            if answer.verdict is not Verdict.VIOLATED:
                return best or Found(choice, answer=answer)
            extended = self._extend(choice, answer)
            if extended is not None and (best is None or best.choice is None or self._is_cheaper(extended, best)):
                best = extended

    def _is_cheaper(self, found: Found, other: Found) -> bool:
        assert found.choice is not None and other.choice is not None
        return self.price(found.choice) < self.price(other.choice)

    def _extend(self, choice: Choice, answer: Answer) -> Found | None:
        """Add edits until the choice holds, learning a clause each time; None where it never does."""
        while answer.verdict is Verdict.VIOLATED:
            assert answer.clause is not None
            clause = self._shrink(choice, answer.clause)
            self._learn(clause)
            if not clause.edits:
                return None
            choice = self._with(choice, min(clause.edits, key=lambda n: (self.prices[n], n)))
            answer = self.oracle.ask(choice)
        return Found(choice, True, False, answer) if answer.verdict is Verdict.HOLDS else None

    def _with(self, choice: Choice, edit: int) -> Choice:
        """The choice and one more edit, without what that makes useless."""
        weaker = self.oracle.edits[edit].weaker
        return frozenset(number for number in choice if number != weaker) | {edit}

    def _learn(self, clause: Clause) -> None:
        self.clauses.append(clause)
        self._sets.add(clause.edits)

    def _unmet(self) -> Clause | None:
        return next((clause for clause in self.clauses if not clause.edits), None)

    def _shrink(self, choice: Choice, clause: Clause) -> Clause:
        """A clause within `clause` of which nothing can be left out, or nothing is found quickly.

        All edits but those of the clause are made, and one of them: if the program still fails, that one is not needed.
        """
        if not self.shrinks:
            return clause
        for edit in sorted(clause.edits, key=lambda n: (self.prices[n], n), reverse=True):
            if edit not in clause.edits:
                continue
            kept = frozenset(clause.edits) - closure(self.oracle.edits, frozenset({edit}))
            answer = self.oracle.ask_quickly(self._all_but(kept))
            if answer.verdict is Verdict.VIOLATED:
                assert answer.clause is not None
                clause = answer.clause
        return clause

    def _all_but(self, left_out: frozenset[int]) -> Choice:
        """The strongest choice that makes none of these edits."""
        made = frozenset(edit.number for edit in self.oracle.edits if edit.number not in left_out)
        return made - {self.oracle.edits[number].weaker for number in made}

    def every_minimal(self) -> Found:
        """All choices that hold and of which no edit can be dropped or made weaker, cheapest first."""
        first = self.minimum()
        if not first.holds or not first.is_minimum or first.choice is None:
            return first
        found, are_all = [first.choice], True
        self._sets.block(first.choice)
        for choice in self._candidates():
            answer = self.oracle.ask(choice)
            if answer.verdict is Verdict.HOLDS:
                found.append(choice)
                self._sets.block(choice)
            elif answer.verdict is Verdict.VIOLATED:
                assert answer.clause is not None
                self._learn(self._shrink(choice, answer.clause))
            else:
                are_all = False
                self._sets.block(choice)
            if len(found) == MOST_SETS:
                are_all = False
                break
        return Found(first.choice, True, True, first.answer, sets=tuple(found), are_all=are_all)

    def _candidates(self) -> Iterator[Choice]:
        while (choice := self._sets.cheapest()) is not None:
            yield choice

    def first(self) -> Found:
        """The papers' loop: fence the latest relaxation of each error path; at last drop what is not needed."""
        choice: Choice = frozenset()
        order: list[int] = []
        answer = self.oracle.ask(choice)
        while answer.verdict is Verdict.VIOLATED:
            assert answer.clause is not None
            self._learn(answer.clause)
            if not answer.clause.edits:
                return Found(None, refuted_by=answer.clause)
            order.append(answer.clause.edits[-1])
            choice = self._with(choice, order[-1])
            answer = self.oracle.ask(choice)
        if answer.verdict is not Verdict.HOLDS:
            return Found(choice, answer=answer)
        for edit in order:
            without = self.oracle.ask(choice - {edit}) if edit in choice else answer
            if edit in choice and without.verdict is Verdict.HOLDS:
                choice, answer = choice - {edit}, without
            elif without.clause is not None:
                self.clauses.append(without.clause)
        return Found(choice, True, not choice, answer)


def prices_of(edits: Sequence[FenceEdit], minimise: Minimise) -> list[int]:
    """What each edit adds to what is minimised; among equals, fewer, cheaper, in inner functions, and plain fences
    behind stores win."""
    total = 1 + sum(edit.cost for edit in edits)
    deepest = max((edit.depth for edit in edits), default=0)
    scale = 4 * (deepest + 1) * (len(edits) + 1)
    prices = []
    for edit in edits:
        first, second = (edit.cost, 1) if minimise == "cost" else (1, edit.cost)
        taste = 4 * (deepest - edit.depth) + 2 * (edit.kind == "locked") + edit.is_before
        prices.append((first * total + second) * scale + taste)
    return prices
