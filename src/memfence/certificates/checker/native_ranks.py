"""The fast checker of ranks, written in C++: the same conditions as in `ranks`, on rows instead of states.

It reads the program from its canonical text and takes its steps by its own rules (`core/certificate`). The automaton of
the property is the one of `tableau`: both checkers, and the proved one, get it from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from memfence import _core
from memfence.certificates.checker.native import BUFFERS, Found, NotForTheFastChecker, step_of
from memfence.certificates.checker.ranks import Product
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.columns import ROWS_IN_A_BLOCK, Columns
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.ranks import NUMBER
from memfence.deadline import interruptible
from memfence.models.fairness import ProcessRuns, steps_of_runs
from memfence.models.spec import ModelSpec
from memfence.program.text.canonical import canonical_text, expression_text

_MALFORMED = {
    1: "a block does not consist of states",
    2: "ranked pairs are not in order, each once",
    3: "a pair has a rank or a node that does not exist",
    4: "a rank names a mark that does not exist",
}
_CONDITIONS = {
    5: (Condition.INITIAL, ""),
    6: (Condition.CLOSED, ""),
    7: (Condition.RANK, "it grows"),
    8: (Condition.RANK, "it stays"),
}


def posed(product: Product, model: ModelSpec, capacity: int) -> dict[str, Any]:
    """The program, the model and the automaton, as the core reads them."""
    refuting = product.refuting
    return {
        "program": canonical_text(product.program),
        "buffers": BUFFERS[model.buffering],
        "bound": model.bound or 0,
        "per_variable": model.per_variable,
        "capacity": capacity,
        "nodes": [
            [(move.target, sorted(move.positive), sorted(move.negative), sorted(move.marks)) for move in leaving]
            for leaving in refuting.moves
        ],
        "initial": refuting.initial,
        "marks": refuting.marks,
        "atoms": [expression_text(atom) for atom in refuting.atoms],
        "fair": any(isinstance(condition, ProcessRuns) for condition in product.fairness),
    }


class NativeRanks:
    """Ranked pairs that are being read."""

    def __init__(self, product: Product, model: ModelSpec, columns: Columns, capacity: int, marks: list[int]) -> None:
        self._product, self._columns = product, columns
        existing = [mark if 0 <= mark < product.marks else -1 for mark in marks]
        try:
            self._native = _core.RankChecker(**posed(product, model, capacity), mark_of_rank=existing)
        except (RuntimeError, TypeError) as problem:
            raise NotForTheFastChecker(str(problem)) from None
        ours = columns.width, product.marks
        assert (self._native.width, self._native.marks) == ours, "both checkers read the same rows and marks"

    def check(self, blocks: Iterable[bytes], *, most_bytes: int) -> int:
        """The number of pairs, if their ranks lead down; Refused, NotACertificate or MemoryError if not."""
        for block in blocks:
            if len(block) > ROWS_IN_A_BLOCK * (self._columns.width + 2 * NUMBER):
                raise NotACertificate("a block has too many states")
            self._refuse(self._native.add(block))
            if self._native.memory > most_bytes:
                raise MemoryError
        try:
            self._refuse(interruptible(self._native.check))
        except RuntimeError as problem:
            raise NotForTheFastChecker(str(problem)) from None
        return self._native.pairs

    def _refuse(self, found: Found | None) -> None:
        if found is None:
            return
        number, row, taken = found
        if number in _MALFORMED:
            raise NotACertificate(_MALFORMED[number])
        condition, detail = _CONDITIONS[number]
        state = self._columns.state(row)
        if condition is Condition.INITIAL:
            raise Refused(condition, state=state)
        step = None if taken is None else step_of(taken)
        after = dict(steps_of_runs(self._product.program, self._product.model, state))[step]
        raise Refused(condition, detail, state=state, step=step, after=after)
