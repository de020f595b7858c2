"""The least choice of edits that leaves no violating execution: implicit hitting sets over monotone strengthening.

Whatever is stronger allows less, so a choice that still violates, extended until every further edit would end that,
gives a clause: some edit outside of it must be made. The cheapest choice that meets all clauses is a minimum once it
violates no more, and the clauses are the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memfence.records import Record
from memfence.synthesis.cheapest_model import cheapest_model
from memfence.synthesis.orders.places import OrderEdit

if TYPE_CHECKING:
    from pysat.examples.rc2 import RC2

Choice = frozenset[int]
"""Edits by number. Always closed: with seq_cst at a place come its other strengths."""

Violates = Callable[[Choice], bool]
"""Whether some execution is bad with these edits made; raises LimitHit."""

MOST_SETS = 1000


class Least(Record):
    """`choice`: of least price; None where even all edits together do not help. `clauses`: each is a set of edits of
    which one is needed. `asked`: how many choices were tried. `sets`: all minimal choices, if asked for."""

    choice: Choice | None
    clauses: tuple[Choice, ...]
    asked: int
    sets: tuple[Choice, ...] = ()
    are_all: bool = False


@dataclass(slots=True)
class LeastSearch:
    """`prices`: of each edit; `place_prices`: of changing a place at all, paid once."""

    edits: Sequence[OrderEdit]
    prices: Sequence[int]
    place_prices: Sequence[int]
    violates: Violates
    clauses: list[Choice] = field(default_factory=list)
    asked: int = 0
    _solver: RC2 | None = None

    def run(self, *, every: bool = False) -> Least:
        """The minimum, or with `every` all choices of which nothing can be left out."""
        first = next(self._holding(), None)
        if first is None:
            return Least(None, tuple(self.clauses), self.asked)
        sets = [first]
        if every and first:
            self._block(first)
            for choice in self._holding():
                sets.append(choice)
                self._block(choice)
                if len(sets) == MOST_SETS:
                    break
        return Least(first, tuple(self.clauses), self.asked, tuple(sets), every and len(sets) < MOST_SETS)

    def price(self, choice: Choice) -> int:
        places = {self.edits[number].place for number in choice}
        return sum(self.prices[n] for n in choice) + sum(self.place_prices[place] for place in places)

    def _holding(self) -> Iterator[Choice]:
        """The cheapest choices that meet all clauses and violate no more, one after the other."""
        while (choice := self._cheapest()) is not None:
            if self._ask(choice):
                self._learn(frozenset(range(len(self.edits))) - self._maximal(choice))
            else:
                yield choice

    def _ask(self, choice: Choice) -> bool:
        self.asked += 1
        return self.violates(choice)

    def _maximal(self, choice: Choice) -> Choice:
        """A largest extension that still violates: dear edits first, so that the clause offers the cheap ones."""
        for number in sorted(range(len(self.edits)), key=lambda n: (-self.prices[n], n)):
            if number in choice:
                continue
            larger = choice | self._with_weaker(number)
            if self._ask(larger):
                choice = larger
        return choice

    def _with_weaker(self, number: int) -> Choice:
        edit = self.edits[number]
        if edit.strength != "seq_cst":
            return frozenset({number})
        return frozenset(n for n, other in enumerate(self.edits) if other.place == edit.place)

    def _learn(self, clause: Choice) -> None:
        self.clauses.append(clause)
        if clause:
            self._solver_now().add_clause([number + 1 for number in sorted(clause)])

    def _block(self, choice: Choice) -> None:
        """Leave out this choice and all that are at least as strong."""
        self._solver_now().add_clause([-(number + 1) for number in sorted(choice)])

    def _cheapest(self) -> Choice | None:
        if any(not clause for clause in self.clauses):
            return None
        if self._solver is None:
            return frozenset()
        model = cheapest_model(self._solver)
        if model is None:
            return None
        return frozenset(literal - 1 for literal in model if 0 < literal <= len(self.edits))

    def _solver_now(self) -> RC2:
        if self._solver is None:
            self._solver = self._new_solver()
        return self._solver

    def _new_solver(self) -> RC2:
        from pysat.examples.rc2 import RC2
        from pysat.formula import WCNF

        formula = WCNF()
        for number, edit in enumerate(self.edits):
            changed = len(self.edits) + 1 + edit.place
            formula.append([-(number + 1), changed])
            for weaker in self._with_weaker(number) - {number}:
                formula.append([-(number + 1), weaker + 1])
            formula.append([-(number + 1)], weight=self.prices[number])
        for place in sorted({edit.place for edit in self.edits}):
            if self.place_prices[place]:
                formula.append([-(len(self.edits) + 1 + place)], weight=self.place_prices[place])
        return RC2(formula)
