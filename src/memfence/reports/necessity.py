"""The reports of `memfence why`: which fences of a program are needed, and the run that appears without each."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.execution.trace import Trace
from memfence.reports.json import Object, check_object
from memfence.reports.reason import why_sentences
from memfence.reports.run_table import run_table
from memfence.reports.sentences import property_line, scope_text
from memfence.reports.table import Column, render_table, wrap
from memfence.reports.text import DEFAULT_WIDTH, verdict_line
from memfence.source import NOWHERE
from memfence.synthesis.necessity import ExistingFence, Need, Reason, WhyResult


def necessity_text(results: Sequence[WhyResult], *, width: int = DEFAULT_WIDTH, quiet: bool = False) -> str:
    """One section a criterion; with `quiet` without the runs."""
    return "\n".join("\n".join(_section(result, width, quiet)) + "\n" for result in results)


def _section(result: WhyResult, width: int, quiet: bool) -> list[str]:
    lines = [verdict_line(result.with_all)]
    if not result.reasons:
        return [*lines, "  there is no fence in it"]
    columns = [Column("place", 12), Column("fence", 6), Column("needed?", 24)]
    rows = [[place_text(reason.fence, result), reason.fence.kind, answer_text(reason)] for reason in result.reasons]
    table = render_table(columns, rows, width)
    lines += [table] if table is not None else [line for row in rows for line in wrap(": ".join(row), width)]
    if len(result.droppable) > 0 and sum(reason.need is Need.REDUNDANT for reason in result.reasons) > 1:
        places = ", ".join(place_text(fence, result) for fence in result.droppable)
        lines += wrap(f"Of the redundant ones, these can go together (proved): {places}", width)
    if quiet:
        return lines
    for reason in result.reasons:
        trace = reason.result.trace
        if reason.need is Need.NEEDED and trace is not None:
            lines += ["", *_run(reason.fence, place_text(reason.fence, result), trace, width)]
    return lines


def answer_text(reason: Reason) -> str:
    """Whether it is needed, and why."""
    match reason.need:
        case Need.NEEDED:
            return "NEEDED: without it a run appears"
        case Need.REDUNDANT:
            return f"REDUNDANT: {scope_text(reason.result)}"
        case Need.VIOLATED_ANYWAY:
            return "the program fails with it, too"
        case Need.UNKNOWN:
            return f"UNKNOWN: {scope_text(reason.result)}"


def _run(fence: ExistingFence, place: str, trace: Trace, width: int) -> list[str]:
    title = f"Without the {fence.kind} at {place}, this run is possible (replayed under {trace.model}):"
    sentences = why_sentences(trace)
    why = ["", *wrap("Why: " + " ".join(sentences), width)] if sentences else []
    return [*wrap(title, width), "", run_table(trace, width), *why]


def fence_place(fence: ExistingFence) -> str:
    """`peterson.pml:15`."""
    return "generated code" if fence.at.source is NOWHERE.source else fence.at.place


def place_text(fence: ExistingFence, result: WhyResult) -> str:
    """The place, and whose fence it is where several stand in one line, as in litmus tests."""
    place = fence_place(fence)
    if sum(fence_place(reason.fence) == place for reason in result.reasons) == 1:
        return place
    names = dict.fromkeys(result.program.processes[p].name for p, _ in sorted(fence.executed))
    return f"{place} ({', '.join(names)})"


def necessity_object(results: Sequence[WhyResult]) -> Object:
    """`memfence why --json`, before it becomes text."""
    return {"criteria": [_criterion_object(result) for result in results]}


def _criterion_object(result: WhyResult) -> Object:
    return {
        "file": result.program.source.path,
        "model": result.model,
        "criterion": result.criterion.value,
        "property": property_line(result.with_all),
        "verdict": result.with_all.verdict.value,
        "fences": [
            {**_fence_object(r.fence), "need": r.need.value, "without": check_object(r.result)} for r in result.reasons
        ],
        "droppable_together": [_fence_object(fence) for fence in result.droppable],
    }


def _fence_object(fence: ExistingFence) -> Object:
    is_placed = fence.at.source is not NOWHERE.source
    return {
        "kind": fence.kind,
        "file": fence.at.source.path if is_placed else None,
        "line": fence.at.line if is_placed else None,
    }
