"""The fast checker of invariants, written in C++: the same conditions as in `invariant`, on rows instead of states.

It reads the program from its canonical text and takes its steps by its own rules (`core/certificate`). Where it cannot
work with a program, such as one with outcomes beyond 64 bits, the Python checker does it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, Protocol, get_args

from memfence import _core
from memfence.certificates.checker.abridged import Ends
from memfence.certificates.checker.finals import Outcomes
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.columns import ROWS_IN_A_BLOCK, Columns
from memfence.certificates.format.container import NotACertificate
from memfence.deadline import interruptible
from memfence.models.buffering import Buffering
from memfence.models.state import Commit, DropSeparator, Failure, ProcessStep, Rendezvous, State, Step
from memfence.models.steps import MemoryModel, take
from memfence.program.text.canonical import canonical_text, expression_text

BUFFERS = {Buffering.NOWHERE: 0, Buffering.PER_PROCESS: 1, Buffering.PER_VARIABLE: 2}
_CONDITIONS = {
    2: Condition.ORDER,
    3: Condition.INITIAL,
    4: Condition.CLOSED,
    5: Condition.FAILURE,
    6: Condition.BAD,
    7: Condition.FINAL,
    8: Condition.DEADLOCK,
    9: Condition.ATTACK,
    10: Condition.RACE,
    11: Condition.STRAY,
    12: Condition.CYCLE,
}
Criterion = Literal["none", "persistent", "race-free", "robust under tso", "robust under pso", "state-robust"]
_CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
_EXPECTED = {"exists": 0, "not exists": 0, "forall": 1}
"""`exists` names an outcome that is not wanted, as everywhere."""
Found = tuple[int, bytes, tuple[int, int, int, int, int] | None]


class NotForTheFastChecker(Exception):
    """The program has something that only the Python checker knows."""


class Rows(Protocol):
    """A checker of the core, which takes rows block by block."""

    @property
    def width(self) -> int: ...
    @property
    def memory(self) -> int: ...
    def add(self, block: bytes) -> Found | None: ...
    def check(self) -> Found | None: ...


def check_rows(
    native: Rows, blocks: Iterable[bytes], refuse: Callable[[Found | None], None], *, most_bytes: int
) -> None:
    """Hand over all blocks and have them checked; `refuse` raises what was found."""
    for block in blocks:
        if len(block) > ROWS_IN_A_BLOCK * native.width:
            raise NotACertificate("a block has too many states")
        refuse(native.add(block))
        if native.memory > most_bytes:
            raise MemoryError
    try:
        refuse(interruptible(native.check))
    except RuntimeError as problem:
        raise NotForTheFastChecker(str(problem)) from None
    except ValueError as problem:
        raise Refused(Condition.KIND, str(problem)) from None


class NativeInvariant:
    """A set of states that is being read. `criterion`: what is asked of each of them beside the question.

    `may_fail`: a step that fails does not matter. `most_bytes`: for what the criterion has to search beside them.
    """

    def __init__(
        self,
        question: Question,
        columns: Columns,
        capacity: int,
        outcomes: Outcomes | None,
        ends: Ends,
        *,
        criterion: Criterion = "none",
        may_fail: bool = False,
        most_bytes: int = sys.maxsize,
    ) -> None:
        self._question, self._columns = question, columns
        if len(question.finals) > 1:
            raise NotForTheFastChecker
        final = question.finals[0] if question.finals else None
        observed = () if final is None else (final.expr, *(expr for _, expr in final.observed))
        try:
            self._native = _core.InvariantChecker(
                canonical_text(question.program),
                BUFFERS[question.model.buffering],
                question.model.bound or 0,
                question.model.per_variable,
                capacity,
                "" if question.bad is None else expression_text(question.bad),
                question.deadlock,
                [expression_text(expr) for expr in observed],
                -1 if final is None else _EXPECTED[final.quantifier],
                [] if outcomes is None else [list(values) for values in outcomes.values],
                _CRITERIA.index(criterion),
                may_fail,
                *_left_out(ends),
                most_bytes,
            )
        except (RuntimeError, TypeError) as problem:
            raise NotForTheFastChecker(str(problem)) from None
        assert self._native.width == columns.width, "both checkers read rows of the same width"

    def check(self, blocks: Iterable[bytes], *, most_bytes: int) -> int:
        """The number of states, if the set is an invariant; Refused, NotACertificate or MemoryError if not."""
        check_rows(self._native, blocks, self._refuse, most_bytes=most_bytes)
        return self._native.states

    def reachable(self, *, most_bytes: int) -> Iterator[bytes]:
        """Blocks of all states that are reachable, in order: what an abridged set stands for."""
        rows = self._native.reachable(most_bytes)
        for at in range(0, len(rows), ROWS_IN_A_BLOCK):
            yield b"".join(map(bytes, zip(*rows[at : at + ROWS_IN_A_BLOCK], strict=True)))

    def _refuse(self, found: Found | None) -> None:
        if found is None:
            return
        raise refusal(found, self._columns, self._question.model.definition)


def refusal(found: Found, columns: Columns, model: MemoryModel) -> Refused:
    """What was found, in words; NotACertificate where it is about rows that are none."""
    number, row, step = found
    if number not in _CONDITIONS:
        raise NotACertificate("a block does not consist of states")
    state, condition = columns.state(row), _CONDITIONS[number]
    if step is None:
        return Refused(condition, state=state)
    taken = step_of(step)
    after = take(columns.program, model, state, taken)
    detail = after.reason if isinstance(after, Failure) else ""
    return Refused(condition, detail, state=state, step=taken, after=after if isinstance(after, State) else None)


def step_of(found: tuple[int, int, int, int, int]) -> Step:
    """A step as the core writes it."""
    kind, process, number, other, other_number = found
    makers: tuple[Callable[[], Step], ...] = (
        lambda: ProcessStep(process, number),
        lambda: Rendezvous(ProcessStep(process, number), ProcessStep(other, other_number)),
        lambda: Commit(process, number),
        lambda: DropSeparator(process),
    )
    return makers[kind]()


def _left_out(
    ends: Ends,
) -> tuple[list[list[int]], list[list[list[int]]], list[list[int]], list[list[int]], list[list[int]]]:
    """By process: passing locations, dead registers by location, quiet transitions, forgotten locations; classes."""
    dead = [[sorted(registers) for registers in process] for process in ends.left_out.dead]
    quiet = [sorted(step.transition for step in steps if isinstance(step, ProcessStep)) for steps in ends.quiet]
    alike = list(map(list, ends.left_out.alike))
    return _lists(ends.left_out.passing), dead, quiet, _lists(ends.forgotten), alike


def _lists(sets: Iterable[frozenset[int]]) -> list[list[int]]:
    return [sorted(numbers) for numbers in sets]
