"""Every criterion side by side. What follows from answers already known is derived, not computed again, and says so.

The implications are those of `docs/theory/criteria.md`: a criterion that holds makes every weaker one hold, one that is
violated makes every stronger one violated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from memfence.models.spec import PSO, SC, TSO, ModelSpec
from memfence.passes.shared_memory_form import other_communication, shared_memory_form
from memfence.program.ir import Program
from memfence.questions import check
from memfence.questions.interruption import interrupted
from memfence.records import Record
from memfence.source import Span
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.implications import STRONGEST_FIRST, Requirement, implies
from memfence.tasks.limits import Limits
from memfence.tasks.options import CheckOptions, properties_to_check, what_is_asked
from memfence.tasks.result import Stats
from memfence.tasks.shown import Shown

SAFETY_SC = Requirement(Criterion.SAFETY, SC)
SAFETY = (Requirement(Criterion.SAFETY, TSO), Requirement(Criterion.SAFETY, PSO))


class FencesNeeded(Record):
    """How many edits of the text make a criterion hold; `fewest`: it was proved that fewer are not enough.

    No `count`: either no fence can do it (`impossible`), or the limits were hit first.
    """

    count: int | None
    fewest: bool = True
    impossible: bool = False


class Compared(Record):
    """One answer. `implied_by`: the answer it was derived from, if it was; then it cost nothing, and there is no
    `answer` of an engine.

    `fences`: None where they were not asked for, or the language has none.
    """

    requirement: Requirement
    verdict: Verdict
    stats: Stats
    answer: Answer | None = None
    limits: Limits | None = None
    implied_by: Requirement | None = None
    fences: FencesNeeded | None = None

    @property
    def bound(self) -> int | None:
        return None if self.answer is None else self.answer.bound


class LeftOut(Record):
    """Criteria without a meaning for this program: `what`, at `span`, reaches other processes beside shared memory."""

    criteria: tuple[Criterion, ...]
    what: str
    span: Span


class Comparison(Shown, Record, repr=False):
    """`is_interrupted`: by Ctrl-C; what was not asked any more is unknown, and fences are not counted."""

    program: Program
    rows: tuple[Compared, ...]
    is_interrupted: bool = False
    left_out: LeftOut | None = None

    def is_affected(self, model: ModelSpec) -> bool | None:
        """Whether what was asked of infinite runs has another answer under `model` than under SC; None: not known."""
        verdicts = {row.requirement: row.verdict for row in self.rows}
        under_sc, relaxed = verdicts.get(SAFETY_SC), verdicts.get(Requirement(Criterion.SAFETY, model))
        if under_sc is None or relaxed is None:
            return None
        if under_sc is Verdict.VIOLATED:  # by a run that `model` has, too
            return False
        return relaxed is Verdict.VIOLATED if under_sc is Verdict.HOLDS and relaxed.is_conclusive else None

    @property
    def asks_infinite_runs(self) -> bool:
        return any(row.requirement == SAFETY_SC for row in self.rows)

    @property
    def is_conclusive(self) -> bool:
        """Whether every question has a proof or a run as its answer."""
        return not self.is_interrupted and all(row.verdict.is_conclusive for row in self.rows)


CountFences = Callable[[Program, Requirement], FencesNeeded | None]
"""None where the language has no fences."""


def compare(
    program: Program, options: CheckOptions | None = None, *, count_fences: CountFences | None = None
) -> Comparison:
    """Ask every criterion of `program`, under TSO and PSO; `options.timeout_seconds` limits each of them.

    The criteria that are about shared memory alone are left out where processes communicate otherwise. Safety is left
    out where nothing is stated; where it is about infinite runs, it is asked under SC, too. `count_fences` says how
    many fences a violated criterion needs.
    """
    options = options or CheckOptions()
    answers: dict[Requirement, Compared] = {}
    is_over = False
    left_out = _left_out(program)
    for asked in _asked(program, options, left_out):
        row = _derived(program, asked, answers) or _computed(program, asked, options, is_over)
        is_over = is_over or (row.answer is not None and row.answer.is_interrupted)
        answers[asked] = row
    rows = list(answers.values())
    for position, row in enumerate(rows):
        if count_fences is not None and not is_over:
            try:
                rows[position] = _with_fences(program, row, count_fences)
            except KeyboardInterrupt:
                is_over = True
    return Comparison(program, tuple(rows), is_interrupted=is_over, left_out=left_out)


def _left_out(program: Program) -> LeftOut | None:
    found = other_communication(shared_memory_form(program))
    if found is None:
        return None
    criteria = dict.fromkeys(r.criterion for r in STRONGEST_FIRST if r.criterion.is_about_accesses)
    return LeftOut(tuple(criteria), *found)


def _asked(program: Program, options: CheckOptions, left_out: LeftOut | None) -> Iterator[Requirement]:
    without = () if left_out is None else left_out.criteria
    yield from (asked for asked in STRONGEST_FIRST if asked.criterion not in without)
    if what_is_asked(program, options).temporal:
        yield SAFETY_SC
    if properties_to_check(program, options) or program.has_assertions:
        yield from SAFETY


def _derived(program: Program, asked: Requirement, answers: dict[Requirement, Compared]) -> Compared | None:
    """The answer that follows from those known, by way of one that was computed itself."""
    for known in answers.values():
        if known.implied_by is not None:
            continue
        if known.verdict is Verdict.HOLDS and implies(program, known.requirement, asked):
            return Compared(asked, Verdict.HOLDS, _nothing(), implied_by=known.requirement)
        if known.verdict is Verdict.VIOLATED and implies(program, asked, known.requirement):
            return Compared(asked, Verdict.VIOLATED, _nothing(), implied_by=known.requirement)
    return None


def _computed(program: Program, requirement: Requirement, options: CheckOptions, is_over: bool) -> Compared:
    asked = replace(options.afresh(), criterion=requirement.criterion, model=requirement.model.name)
    try:
        result = interrupted(program, asked) if is_over else check(program, asked)
    except KeyboardInterrupt:
        result = interrupted(program, asked)
    return Compared(requirement, result.verdict, result.stats, result.answer, result.limits)


def _with_fences(program: Program, row: Compared, count_fences: CountFences) -> Compared:
    if row.verdict is Verdict.HOLDS:
        return replace(row, fences=FencesNeeded(0))
    if not row.requirement.model.has_buffers:
        return replace(row, fences=FencesNeeded(None, impossible=True))
    return replace(row, fences=count_fences(program, row.requirement))


def _nothing() -> Stats:
    return Stats(0, 0, 0.0, 0.0)
