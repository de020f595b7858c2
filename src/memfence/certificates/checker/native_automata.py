"""The fast checker of automata, written in C++: the same conditions as in `automata`, on rows instead of states."""

from __future__ import annotations

from collections.abc import Iterable

from memfence import _core
from memfence.certificates.checker.automata import refuse_what_is_not_covered, sample
from memfence.certificates.checker.native import _CONDITIONS, BUFFERS, NotForTheFastChecker, step_of
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Refused
from memfence.certificates.format.automata import ReadAutomaton, SymbolicRows
from memfence.certificates.format.columns import ROWS_IN_A_BLOCK
from memfence.certificates.format.container import NotACertificate
from memfence.deadline import interruptible
from memfence.program.text.canonical import canonical_text, expression_text

Found = tuple[int, bytes, list[int], tuple[int, int, int, int, int] | None]


class NativeAutomata:
    """A set of symbolic states that is being read."""

    def __init__(self, question: Question, automata: list[ReadAutomaton]) -> None:
        refuse_what_is_not_covered(question)
        self._automata, self._rows = automata, SymbolicRows(question.program)
        bad = "" if question.bad is None else expression_text(question.bad)
        try:
            self._native = _core.AutomataChecker(
                canonical_text(question.program), BUFFERS[question.model.buffering], bad, question.deadlock
            )
            for automaton in automata:
                self._native.add_automaton(*_plain(automaton))
        except (RuntimeError, TypeError) as problem:
            raise NotForTheFastChecker(str(problem)) from None
        assert self._native.width == self._rows.width, "both checkers read rows of the same width"

    def check(self, blocks: Iterable[bytes], *, most_bytes: int) -> int:
        """The number of symbolic states that prove what is asked; else Refused, NotACertificate or MemoryError."""
        for block in blocks:
            if len(block) > ROWS_IN_A_BLOCK * self._rows.width:
                raise NotACertificate("a block has too many states")
            self._refuse(self._native.add(block))
            if self._native.memory > most_bytes:
                raise MemoryError
        try:
            self._refuse(interruptible(self._native.check))
        except RuntimeError as problem:
            raise NotForTheFastChecker(str(problem)) from None
        return self._native.states

    def _refuse(self, found: Found | None) -> None:
        if found is None:
            return
        number, row, automata, step = found
        if number not in _CONDITIONS:
            raise NotACertificate("a block does not consist of symbolic states")
        control, words = self._rows.control.state(row), [self._automata[n] for n in automata]
        state = sample(control, words) if words else control
        raise Refused(_CONDITIONS[number], state=state, step=None if step is None else step_of(step))


def _plain(automaton: ReadAutomaton) -> tuple[list[list[tuple[bool, int, int, int]]], list[int]]:
    """Moves: whether the entry is a store, its variable and value, and where it leads."""
    moves = [
        [(False, 0, 0, target) if entry is None else (True, *entry, target) for entry, target in leaving.items()]
        for leaving in automaton.moves
    ]
    return moves, sorted(automaton.accepting)
