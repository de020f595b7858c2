"""The report of fence synthesis. The page is imported when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memfence.report.describe.check import what_was_asked
from memfence.report.describe.fix_text import fix_object, fix_text
from memfence.report.describe.found import rule, top_of
from memfence.report.report import Case, Finding, Kind, Level, Patch, Problem, Report
from memfence.report.words.fix_sentences import fix_property, fix_scope, fix_verdict_line
from memfence.synthesis.result import Fix, FixResult, FixVerdict, PlacedFence

if TYPE_CHECKING:
    from memfence.certificates.result import Certified
    from memfence.report.page import Page
    from memfence.synthesis.orders.result import OrderFix


def fix_report(result: FixResult, proof: Certified | None = None) -> Report:
    """With what became of the `proof` that the patched text works, where one was asked for."""
    return Report(
        line=lambda: fix_verdict_line(result),
        text=lambda style: fix_text(result, width=style.width, quiet=style.quiet, verbose=style.verbose),
        data=lambda: fix_object(result),
        page=lambda: _page(result, proof),
        findings=lambda: _findings(result),
        case=lambda: fix_case(
            result,
            f"memfence.{result.model}.{result.criterion}.fences",
            fix_property(result),
            result.stats.seconds,
        ),
        sources=lambda: [result.program.source],
        brief=lambda: f"{result.verdict} under {result.model} ({result.criterion}), {result.program.source.path}",
    )


def _page(result: FixResult, proof: Certified | None) -> Page:
    from memfence.report.describe.fix_page import fix_page

    return fix_page(result, proof)


def fix_case(result: Fix | OrderFix, group: str, asked: str, seconds: float = 0.0) -> Case:
    """What is missing is a failure."""
    problems: dict[FixVerdict, Problem] = {FixVerdict.ALREADY_HOLDS: None, FixVerdict.UNKNOWN: "error"}
    return Case(
        group=group,
        name=f"{result.program.source.path}: {asked}",
        kind=result.verdict.value,
        problem=problems.get(result.verdict, "failure"),
        seconds=seconds,
    )


def _findings(result: FixResult) -> list[Finding]:
    """One per fence that is missing; a single one where no fence is, or where none helps."""
    if result.verdict is FixVerdict.FIXED:
        return [_missing(result, fence) for fence in result.chosen.fences]
    kinds: dict[FixVerdict, tuple[Kind, Level, str]] = {
        FixVerdict.ALREADY_HOLDS: ("pass", "none", "no fence is missing"),
        FixVerdict.IMPOSSIBLE: ("fail", "error", "no fence can make the program work"),
    }
    kind, level, text = kinds.get(result.verdict, ("open", "none", f"unknown: {fix_scope(result)}"))
    message = f"{result.program.source.path} under {result.model} ({result.criterion}): {text}"
    return [
        Finding(
            rule=rule("fences"),
            kind=kind,
            level=level,
            message=message,
            at=top_of(result.program.source),
            run=result.trace,
            facts=_facts_of_fences(result),
        )
    ]


def _missing(result: FixResult, fence: PlacedFence) -> Finding:
    side, count = "before" if fence.is_before else "after", result.chosen.count
    what = f"Write {count} fence{'' if count == 1 else 's'}, which is enough"
    return Finding(
        rule=rule("fences"),
        kind="fail",
        level="error",
        message=f"{fence.kind} needed {side} `{fence.text}` under {result.model} ({result.criterion})",
        at=fence.at,
        run=fence.run,
        patch=Patch(what, result.files) if result.files else None,
        facts=_facts_of_fences(result),
    )


def _facts_of_fences(result: FixResult) -> dict[str, Any]:
    return {**what_was_asked(result, result.criterion.value, fix_scope(result)), "minimum": result.is_minimum}
