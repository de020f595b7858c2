"""`memfence why`: is a fence that the program already has needed?

Each fence is dropped alone, in every instance of its template, and the program is checked again: a fence is needed if a
run appears, redundant if the check proves that none does. C has more that orders accesses (`synthesis.orderings`): a
seq_cst store becomes a release store, a read-modify-write loses its lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import combinations

from memfence.models.spec import ModelName
from memfence.program.ir import Program
from memfence.questions import check
from memfence.questions.interruption import interrupted
from memfence.questions.shortening import shortened
from memfence.records import Record
from memfence.synthesis.orderings import ExistingFence, existing_fences, without_fences
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult
from memfence.tasks.shown import Shown

MOST_TRIED = 32
"""Sets that are tried before the first that was found counts as good enough."""


class Need(StrEnum):
    """NEEDED: a run appears without it. REDUNDANT: proved that none does. VIOLATED_ANYWAY: it fails with it, too."""

    NEEDED = "needed"
    REDUNDANT = "redundant"
    VIOLATED_ANYWAY = "violated_anyway"
    UNKNOWN = "unknown"


class Reason(Record):
    """Whether one fence is needed, and the check of the program without it (or, for VIOLATED_ANYWAY, with it)."""

    fence: ExistingFence
    need: Need
    result: CheckResult


class WhyResult(Record):
    """The answers for one criterion. `with_all`: the check of the program as it is. `droppable`: redundant fences that
    can go together (each alone can); `is_largest`: of no more of them it is true. `asked_model`: another name of the
    model, if that was asked: "x86"."""

    program: Program
    model: ModelName
    criterion: Criterion
    with_all: CheckResult
    reasons: tuple[Reason, ...]
    droppable: tuple[ExistingFence, ...]
    is_largest: bool = True
    asked_model: str = ""

    @property
    def is_interrupted(self) -> bool:
        """By Ctrl-C: some fences were not asked about."""
        checks = (self.with_all, *(reason.result for reason in self.reasons))
        return any(check.answer.is_interrupted for check in checks)


class WhyResults(Shown, tuple[WhyResult, ...]):
    """The answers for every criterion asked about, in order."""

    __slots__ = ()


def why(
    program: Program, criterion: Criterion, options: CheckOptions, fences: Sequence[ExistingFence] | None = None
) -> WhyResult:
    """Decide for each of `fences` (all, if not given) whether the program needs it for the criterion."""
    criterion = Criterion(criterion)
    asked = replace(options, criterion=criterion)
    with_all = shortened(_check(program, asked), asked)
    chosen = existing_fences(program) if fences is None else tuple(fences)
    reasons = tuple(_reasons(program, chosen, with_all, asked))
    redundant = [reason.fence for reason in reasons if reason.need is Need.REDUNDANT]
    is_over = any(reason.result.answer.is_interrupted for reason in reasons)
    droppable, is_largest = tuple(redundant[:1]), len(redundant) < 2
    if len(redundant) > 1 and not is_over:
        droppable, is_largest = _together(program, redundant, asked)
    return WhyResult(program, options.model, criterion, with_all, reasons, droppable, is_largest)


def _check(program: Program, options: CheckOptions) -> CheckResult:
    """One of the many checks that decide about fences; each has the whole time."""
    asked = options.afresh()
    try:
        return check(program, asked)
    except KeyboardInterrupt:
        return interrupted(program, asked)


def _reasons(
    program: Program, fences: Sequence[ExistingFence], with_all: CheckResult, options: CheckOptions
) -> Iterator[Reason]:
    """A reason each; after Ctrl-C the rest is not asked about."""
    last = with_all
    for fence in fences:
        reason = Reason(fence, Need.UNKNOWN, last)
        if not last.answer.is_interrupted:
            reason = _reason(program, fence, with_all, options)
            last = reason.result
        yield reason


def _reason(program: Program, fence: ExistingFence, with_all: CheckResult, options: CheckOptions) -> Reason:
    if with_all.verdict is Verdict.VIOLATED:
        return Reason(fence, Need.VIOLATED_ANYWAY, with_all)
    if fence.is_free:
        return Reason(fence, Need.REDUNDANT if with_all.verdict is Verdict.HOLDS else Need.UNKNOWN, with_all)
    result = shortened(_check(without_fences(program, [fence], options.spec), options), options)
    needs = {Verdict.VIOLATED: Need.NEEDED, Verdict.HOLDS: Need.REDUNDANT}
    return Reason(fence, needs.get(result.verdict, Need.UNKNOWN), result)


def _together(
    program: Program, redundant: Sequence[ExistingFence], options: CheckOptions
) -> tuple[tuple[ExistingFence, ...], bool]:
    """Redundant ones that can go at the same time, and whether no larger set can."""

    def can_go(fences: Sequence[ExistingFence]) -> bool:
        return _check(without_fences(program, fences, options.spec), options).verdict is Verdict.HOLDS

    free = [fence for fence in redundant if fence.is_free]
    others = [fence for fence in redundant if not fence.is_free]
    dropped: list[ExistingFence] = []
    for fence in others:
        if can_go([*dropped, fence]):
            dropped.append(fence)
    chosen, is_largest = _larger(others, dropped, can_go)
    return tuple(fence for fence in redundant if fence in (*free, *chosen)), is_largest


def _larger(
    others: Sequence[ExistingFence], dropped: Sequence[ExistingFence], can_go: Callable[[list[ExistingFence]], bool]
) -> tuple[Sequence[ExistingFence], bool]:
    """A largest set, where few enough candidates are left to try; else `dropped`."""
    larger = [list(some) for size in range(len(others), len(dropped), -1) for some in combinations(others, size)]
    if len(larger) > MOST_TRIED:
        return dropped, False
    return next((some for some in larger if can_go(some)), dropped), True
