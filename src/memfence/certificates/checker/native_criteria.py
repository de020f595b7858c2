"""The fast checkers of criteria, written in C++: the same conditions as in `criteria`, `robust` and `triangular`.

What a program must be for a theorem to apply is looked at in Python, by the checkers that are here for reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from memfence import _core
from memfence.certificates.checker.abridged import ends_of
from memfence.certificates.checker.criteria import require_shared_memory, require_single_stores
from memfence.certificates.checker.native import (
    Criterion,
    Found,
    NativeInvariant,
    NotForTheFastChecker,
    check_rows,
    refusal,
)
from memfence.certificates.checker.question import Question
from memfence.certificates.format.abridged import WHOLE, Abridgement
from memfence.certificates.format.automata import NUMBER
from memfence.certificates.format.columns import Columns
from memfence.models.buffering import Buffering
from memfence.models.spec import SC
from memfence.program.ir import Program
from memfence.program.text.canonical import canonical_text

_ROBUST: dict[Buffering, Criterion] = {
    Buffering.PER_PROCESS: "robust under tso",
    Buffering.PER_VARIABLE: "robust under pso",
}


def fast_race_free(question: Question, blocks: Iterable[bytes], left_out: Abridgement, most_bytes: int) -> int:
    """Theorem 5: how many states of SC there are."""
    require_shared_memory(question.program, regions=True)
    return _of_sc("race-free", question, blocks, left_out, most_bytes)


def fast_robust(question: Question, blocks: Iterable[bytes], left_out: Abridgement, most_bytes: int) -> int:
    """Theorem 9: how many states of SC there are. The model of the question has buffers."""
    require_single_stores(question.program)
    return _of_sc(_ROBUST[question.model.buffering], question, blocks, left_out, most_bytes)


def fast_state_robust(question: Question, blocks: Iterable[bytes], capacity: int, most_bytes: int) -> int:
    """Theorem 4: how many states of the model there are."""
    asked, columns = _alone(question), Columns(question.program, question.model.buffering, capacity)
    ends = ends_of(question.program, question.model.definition, WHOLE)
    native = NativeInvariant(asked, columns, capacity, None, ends, criterion="state-robust", most_bytes=most_bytes)
    return native.check(blocks, most_bytes=most_bytes)


def _of_sc(
    criterion: Criterion, question: Question, blocks: Iterable[bytes], left_out: Abridgement, most_bytes: int
) -> int:
    ends = ends_of(question.program, SC.definition, left_out)
    asked, columns = replace(_alone(question), model=SC), Columns(question.program, SC.buffering, 0)
    native = NativeInvariant(asked, columns, 0, None, ends, criterion=criterion, may_fail=True, most_bytes=most_bytes)
    return native.check(blocks, most_bytes=most_bytes)


def reachable_under_sc(question: Question, *, most_bytes: int) -> Iterator[bytes]:
    """Blocks of all states that SC reaches, in order, steps that fail left out."""
    ends = ends_of(question.program, SC.definition, WHOLE)
    asked, columns = replace(_alone(question), model=SC), Columns(question.program, SC.buffering, 0)
    return NativeInvariant(asked, columns, 0, None, ends).reachable(most_bytes=most_bytes)


def _alone(question: Question) -> Question:
    """A criterion is asked alone."""
    return replace(question, bad=None, deadlock=False, finals=())


class NativeTriangular:
    """Theorem 10: pairs of a state of SC and the newest unfenced store of each process."""

    def __init__(self, program: Program) -> None:
        require_single_stores(program)
        self._columns = Columns(program, SC.buffering, 0)
        try:
            self._native = _core.TriangularChecker(canonical_text(program))
        except (RuntimeError, TypeError) as problem:
            raise NotForTheFastChecker(str(problem)) from None
        width = self._columns.width + NUMBER * len(program.processes)
        assert self._native.width == width, "both checkers read rows of the same width"

    def check(self, blocks: Iterable[bytes], *, most_bytes: int) -> int:
        """The number of pairs, if they are a proof; Refused, NotACertificate or MemoryError if not."""
        check_rows(self._native, blocks, self._refuse, most_bytes=most_bytes)
        return self._native.states

    def reachable(self, *, most_bytes: int) -> list[bytes]:
        """The rows of all pairs that are reachable, in order, steps that fail left out."""
        return self._native.reachable(most_bytes)

    def _refuse(self, found: Found | None) -> None:
        if found is not None:
            raise refusal(found, self._columns, SC.definition)
