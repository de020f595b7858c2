"""Minimum hitting sets: the cheapest choice of edits that meets every clause (python-sat's RC2).

For each edit there is a variable "this fence, or a stronger one at the same place": an mfence implies the sfence of its
place, so that choosing an sfence leaves less to pay for the mfence. All minimal choices come by blocking, one after the
other, whatever is at least as strong as a choice found before, in the order of their price.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pysat.examples.rc2 import RC2
from pysat.formula import WCNF

from memfence.synthesis.sites import FenceEdit


class HittingSets:
    """The choices of `edits` that meet all clauses added so far, cheapest first. `prices` go by edit number."""

    def __init__(self, edits: Sequence[FenceEdit], prices: Sequence[int]) -> None:
        self.edits = edits
        formula = WCNF()
        for edit in edits:
            price = prices[edit.number]
            if edit.weaker is not None:
                formula.append([-_variable(edit.number), _variable(edit.weaker)])
                price -= prices[edit.weaker]
            assert price > 0, "a stronger fence costs more"
            formula.append([-_variable(edit.number)], weight=price)
        self._solver = RC2(formula)
        self._impossible = False

    def add(self, clause: Iterable[int]) -> None:
        """Demand one of these edits, or a stronger one."""
        literals = [_variable(number) for number in sorted(clause)]
        self._impossible |= not literals
        if literals:
            self._solver.add_clause(literals)

    def block(self, choice: Iterable[int]) -> None:
        """Leave out this choice and all that are at least as strong."""
        literals = [-_variable(number) for number in sorted(choice)]
        self._impossible |= not literals
        if literals:
            self._solver.add_clause(literals)

    def cheapest(self) -> frozenset[int] | None:
        """A choice of least price; None where there is none left."""
        if self._impossible:
            return None
        model = self._solver.compute()
        if model is None:
            return None
        true = {literal for literal in model if literal > 0}
        chosen = {edit.number for edit in self.edits if _variable(edit.number) in true}
        implied = {edit.weaker for edit in self.edits if edit.number in chosen}
        return frozenset(chosen - implied)

    def close(self) -> None:
        self._solver.delete()


def _variable(edit: int) -> int:
    return edit + 1
