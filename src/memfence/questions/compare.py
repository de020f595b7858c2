"""Every criterion side by side. What follows from answers already known is derived, not computed again, and says so.

The implications are those of `docs/theory/criteria.md`: a criterion that holds makes every weaker one hold, one that is
violated makes every stronger one violated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from memfence.passes.shared_memory_form import other_communication, shared_memory_form
from memfence.program.facts.effects import has_guarded_writes, has_torn_steps
from memfence.program.ir import Program
from memfence.questions import check
from memfence.tasks.options import CheckOptions, Criterion, properties_to_check
from memfence.tasks.result import CheckResult, Stats, Verdict, go_on_unless_interrupted

RelaxedModel = Literal["tso", "pso"]


@dataclass(frozen=True, slots=True)
class Question:
    """A criterion under a model. Races are about SC runs, persistence is about TSO: they have one model only."""

    criterion: Criterion
    model: RelaxedModel

    @property
    def name(self) -> str:
        """Unique, and stable: the key of the JSON object."""
        alone = self.criterion in ("drf", "trf", "persistent")
        return self.criterion if alone else f"{self.criterion}-{self.model}"


DRF, TRF, PERSISTENT = Question("drf", "tso"), Question("trf", "tso"), Question("persistent", "tso")
ROBUST_TSO, ROBUST_PSO = Question("robust", "tso"), Question("robust", "pso")
STATE_TSO, STATE_PSO = Question("state-robust", "tso"), Question("state-robust", "pso")
SAFETY = (Question("safety", "tso"), Question("safety", "pso"))

QUESTIONS = (DRF, TRF, PERSISTENT, ROBUST_TSO, ROBUST_PSO, STATE_TSO, STATE_PSO)
"""Strongest first, so that one proof answers many; TSO before PSO, so that one violation does."""

_WEAKER: dict[Question, tuple[Question, ...]] = {
    DRF: (TRF, ROBUST_PSO),
    TRF: (PERSISTENT, ROBUST_TSO),
    PERSISTENT: (STATE_TSO,),
    ROBUST_PSO: (ROBUST_TSO, STATE_PSO),
    ROBUST_TSO: (STATE_TSO,),
    STATE_PSO: (STATE_TSO,),
}


@dataclass(frozen=True, slots=True)
class FencesNeeded:
    """How many edits of the text make a criterion hold; `fewest`: it was proved that fewer are not enough.

    No `count`: either no fence can do it (`impossible`), or the limits were hit first.
    """

    count: int | None
    fewest: bool = True
    impossible: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    """One answer. `implied_by`: the answer it was derived from, if it was; then it cost nothing.

    `fences`: None where they were not asked for, or the language has none.
    """

    question: Question
    verdict: Verdict
    stats: Stats
    bound: int | None = None
    limit: str | None = None
    implied_by: Question | None = None
    fences: FencesNeeded | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    program: Program
    rows: tuple[Compared, ...]

    @property
    def is_conclusive(self) -> bool:
        """Whether every question has a proof or a run as its answer."""
        return all(row.verdict in (Verdict.HOLDS, Verdict.VIOLATED) for row in self.rows)


CountFences = Callable[[Program, Question], FencesNeeded | None]
"""None where the language has no fences."""


def compare(
    program: Program, options: CheckOptions | None = None, *, count_fences: CountFences | None = None
) -> Comparison:
    """Ask every criterion of `program`, under TSO and PSO; `options.timeout_seconds` limits each of them.

    The criteria that are about shared memory alone are left out where processes communicate otherwise; safety is left
    out where nothing is stated. `count_fences` says how many fences a violated criterion needs.
    """
    options = options or CheckOptions()
    answers: dict[Question, Compared] = {}
    for question in _asked(program, options):
        answers[question] = _derived(program, question, answers) or _computed(program, question, options)
    rows = tuple(answers.values())
    if count_fences is not None:
        rows = tuple(_with_fences(program, row, count_fences) for row in rows)
    return Comparison(program, rows)


def _asked(program: Program, options: CheckOptions) -> Iterator[Question]:
    if other_communication(shared_memory_form(program)) is None:
        yield from QUESTIONS
    else:
        yield from (STATE_TSO, STATE_PSO)
    if properties_to_check(program, options) or program.has_assertions:
        yield from SAFETY


def weaker(program: Program, question: Question) -> Iterator[Question]:
    """The criteria that `question` directly implies for this program."""
    if question == TRF and (has_guarded_writes(program) or has_torn_steps(program)):
        return
    for other in _WEAKER.get(question, ()):
        if other != PERSISTENT or not has_torn_steps(program):
            yield other


def _derived(program: Program, question: Question, answers: dict[Question, Compared]) -> Compared | None:
    """The answer that follows from those known, by way of one that was computed itself."""
    for known in answers.values():
        if known.implied_by is not None:
            continue
        if known.verdict is Verdict.HOLDS and _implies(program, known.question, question):
            return Compared(question, Verdict.HOLDS, _nothing(), implied_by=known.question)
        if known.verdict is Verdict.VIOLATED and _implies(program, question, known.question):
            return Compared(question, Verdict.VIOLATED, _nothing(), implied_by=known.question)
    return None


def _implies(program: Program, stronger: Question, other: Question) -> bool:
    return stronger == other or any(_implies(program, step, other) for step in weaker(program, stronger))


def _computed(program: Program, question: Question, options: CheckOptions) -> Compared:
    result: CheckResult = check(program, replace(options, criterion=question.criterion, model=question.model))
    go_on_unless_interrupted(result.limit)
    return Compared(question, result.verdict, result.stats, result.bound, result.limit)


def _with_fences(program: Program, row: Compared, count_fences: CountFences) -> Compared:
    if row.verdict is Verdict.HOLDS:
        return replace(row, fences=FencesNeeded(0))
    return replace(row, fences=count_fences(program, row.question))


def _nothing() -> Stats:
    return Stats(0, 0, 0.0, 0.0)
