"""Minimum hitting sets: the cheapest choice of edits that meets every clause (python-sat's RC2).

For each edit there is a variable "this fence, or a stronger one at the same place": an mfence implies the sfence of its
place, so that choosing an sfence leaves less to pay for the mfence. All minimal choices come by blocking, one after the
other, whatever is at least as strong as a choice found before, in the order of their price.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memfence.synthesis.cheapest_model import cheapest_model
from memfence.synthesis.sites import FenceEdit

if TYPE_CHECKING:
    from pysat.examples.rc2 import RC2


class HittingSets:
    """The choices of `edits` that meet all clauses added so far, cheapest first. `prices` go by edit number."""

    def __init__(self, edits: Sequence[FenceEdit], prices: Sequence[int]) -> None:
        self.edits = edits
        self._prices = prices
        self._solver: RC2 | None = None
        self._impossible = False

    def _demand(self, literals: list[int]) -> None:
        """Add a clause; the solver is loaded for the first one, since many programs have none."""
        self._impossible |= not literals
        if not literals:
            return
        if self._solver is None:
            self._solver = self._new_solver()
        self._solver.add_clause(literals)

    def _new_solver(self) -> RC2:
        from pysat.examples.rc2 import RC2
        from pysat.formula import WCNF

        formula = WCNF()
        for edit in self.edits:
            price = self._prices[edit.number]
            if edit.weaker is not None:
                formula.append([-_variable(edit.number), _variable(edit.weaker)])
                price -= self._prices[edit.weaker]
            assert price > 0, "a stronger fence costs more"
            formula.append([-_variable(edit.number)], weight=price)
        return RC2(formula)

    def add(self, clause: Iterable[int]) -> None:
        """Demand one of these edits, or a stronger one."""
        self._demand([_variable(number) for number in sorted(clause)])

    def block(self, choice: Iterable[int]) -> None:
        """Leave out this choice and all that are at least as strong."""
        self._demand([-_variable(number) for number in sorted(choice)])

    def cheapest(self) -> frozenset[int] | None:
        """A choice of least price; None where there is none left."""
        if self._impossible:
            return None
        if self._solver is None:
            return frozenset()
        model = cheapest_model(self._solver)
        if model is None:
            return None
        true = {literal for literal in model if literal > 0}
        chosen = {edit.number for edit in self.edits if _variable(edit.number) in true}
        implied = {edit.weaker for edit in self.edits if edit.number in chosen}
        return frozenset(chosen - implied)

    def close(self) -> None:
        if self._solver is not None:
            self._solver.delete()


def _variable(edit: int) -> int:
    return edit + 1
