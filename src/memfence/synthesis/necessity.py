"""`memfence why`: is a fence that the program already has needed?

Each fence is dropped alone, in every instance of its template, and the program is checked again: a fence is needed if a
run appears, redundant if the check proves that none does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memfence.models.spec import ModelName
from memfence.program.ir import Fence, Op, Program, Transition, WrittenFence
from memfence.questions import check
from memfence.source import NOWHERE, Span
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult
from memfence.tasks.shown import Shown


@dataclass(frozen=True, slots=True)
class ExistingFence:
    """A fence of the text and the transitions (process, number) that execute it."""

    kind: WrittenFence
    at: Span
    executed: frozenset[tuple[int, int]]


class Need(StrEnum):
    """NEEDED: a run appears without it. REDUNDANT: proved that none does. VIOLATED_ANYWAY: it fails with it, too."""

    NEEDED = "needed"
    REDUNDANT = "redundant"
    VIOLATED_ANYWAY = "violated_anyway"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Reason:
    """Whether one fence is needed, and the check of the program without it (or, for VIOLATED_ANYWAY, with it)."""

    fence: ExistingFence
    need: Need
    result: CheckResult


@dataclass(frozen=True, slots=True)
class WhyResult:
    """The answers for one criterion. `with_all`: the check of the program as it is. `droppable`: redundant fences that
    can go together (each alone can)."""

    program: Program
    model: ModelName
    criterion: Criterion
    with_all: CheckResult
    reasons: tuple[Reason, ...]
    droppable: tuple[ExistingFence, ...]


class WhyResults(Shown, tuple[WhyResult, ...]):
    """The answers for every criterion asked about, in order."""

    __slots__ = ()


def existing_fences(program: Program) -> tuple[ExistingFence, ...]:
    """Every fence statement, in the order of the text."""
    found: dict[tuple[str, int, WrittenFence], tuple[Span, set[tuple[int, int]]]] = {}
    for p, process in enumerate(program.processes):
        for t, transition in enumerate(process.transitions):
            for op in transition.ops:
                if isinstance(op, Fence) and not transition.locked:
                    span = transition.span
                    number = t if span.source is NOWHERE.source else span.start
                    key = (f"{p}" if span.source is NOWHERE.source else span.source.path, number, op.kind)
                    found.setdefault(key, (span, set()))[1].add((p, t))
    return tuple(
        ExistingFence(kind, span, frozenset(executed)) for (_, _, kind), (span, executed) in sorted(
            found.items(), key=lambda item: item[0]
        )
    )  # fmt: skip


def without_fences(program: Program, fences: Iterable[ExistingFence]) -> Program:
    """`program` as if these fences had never been written."""
    dropped = {(p, t, fence.kind) for fence in fences for p, t in fence.executed}

    def kept(p: int, t: int, transition: Transition) -> Transition:
        ops: tuple[Op, ...] = tuple(
            op for op in transition.ops if not isinstance(op, Fence) or (p, t, op.kind) not in dropped
        )
        if ops == transition.ops:
            return transition
        return replace(transition, ops=ops, span=transition.span if ops else NOWHERE)  # a run must not show it

    processes = tuple(
        replace(process, transitions=tuple(kept(p, t, transition) for t, transition in enumerate(process.transitions)))
        for p, process in enumerate(program.processes)
    )
    return replace(program, processes=processes)


def why(
    program: Program, criterion: Criterion, options: CheckOptions, fences: Sequence[ExistingFence] | None = None
) -> WhyResult:
    """Decide for each of `fences` (all, if not given) whether the program needs it for the criterion."""
    criterion = Criterion(criterion)
    asked = replace(options, criterion=criterion)
    with_all = _check(program, asked)
    chosen = existing_fences(program) if fences is None else tuple(fences)
    reasons = tuple(_reason(program, fence, with_all, asked) for fence in chosen)
    redundant = [reason.fence for reason in reasons if reason.need is Need.REDUNDANT]
    droppable = _together(program, redundant, asked) if len(redundant) > 1 else tuple(redundant)
    return WhyResult(program, options.model, criterion, with_all, reasons, droppable)


def _check(program: Program, options: CheckOptions) -> CheckResult:
    """One of the many checks that decide about fences; each has the whole time."""
    return check(program, options.afresh()).go_on_unless_interrupted()


def _reason(program: Program, fence: ExistingFence, with_all: CheckResult, options: CheckOptions) -> Reason:
    if with_all.verdict is Verdict.VIOLATED:
        return Reason(fence, Need.VIOLATED_ANYWAY, with_all)
    result = _check(without_fences(program, [fence]), options)
    needs = {Verdict.VIOLATED: Need.NEEDED, Verdict.HOLDS: Need.REDUNDANT}
    return Reason(fence, needs.get(result.verdict, Need.UNKNOWN), result)


def _together(program: Program, redundant: Sequence[ExistingFence], options: CheckOptions) -> tuple[ExistingFence, ...]:
    """As many of them, from the first on, as can be dropped at the same time."""
    dropped: list[ExistingFence] = []
    for fence in redundant:
        if _check(without_fences(program, [*dropped, fence]), options).verdict is Verdict.HOLDS:
            dropped.append(fence)
    return tuple(dropped)
