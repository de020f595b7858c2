"""The report of `memfence why`: which fences are needed, and the run that appears without each."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.report.describe.check_text import verdict_text
from memfence.report.describe.found import finding_of, rule, top_of
from memfence.report.describe.why_text import (
    answer_text,
    fails_anyway,
    necessity_object,
    necessity_text,
    place_text,
    title_of,
    weakened_text,
    what_text,
)
from memfence.report.page import Page, TableView, Tone
from memfence.report.report import Case, Finding, Kind, Level, Problem, Report
from memfence.report.views.run_tables import run_as_table
from memfence.report.views.source_view import source_view
from memfence.report.words.coverage import assumptions
from memfence.report.words.findings import headline
from memfence.report.words.model_name import model_object
from memfence.report.words.reason import why_sentences
from memfence.synthesis.necessity import Need, Reason, WhyResult


def why_report(results: Sequence[WhyResult]) -> Report:
    """The answers for every criterion."""
    reasons = [(result, reason) for result in results for reason in result.reasons]
    needs = [reason.need for _, reason in reasons]
    program = results[0].program
    return Report(
        line=lambda: f"{program.source.path}: {_verdict(needs)[0]} under {results[0].model}",
        text=lambda style: necessity_text(results, width=style.width, quiet=style.quiet),
        data=lambda: necessity_object(results),
        page=lambda: why_page(results),
        findings=lambda: [_finding(result, reason) for result, reason in reasons] or [_nothing(results[0])],
        case=lambda: Case(
            group=f"memfence.{results[0].model}.why",
            name=program.source.path,
            kind=_verdict(needs)[0].lower(),
            problem=_problem(needs),
            seconds=sum(reason.result.stats.seconds for _, reason in reasons),
        ),
        sources=lambda: [program.source],
        brief=lambda: ", ".join(f"{needs.count(one)} {one.value}" for one in dict.fromkeys(needs)) or "no fence",
    )


def _nothing(result: WhyResult) -> Finding:
    source = result.program.source
    return finding_of("why", None, f"{source.path}: there is no fence in it", top_of(source))


def _problem(needs: Sequence[Need]) -> Problem:
    if Need.UNKNOWN in needs:
        return "error"
    return None if all(need is Need.NEEDED for need in needs) else "failure"


def _finding(result: WhyResult, reason: Reason) -> Finding:
    """A fence that is needed is as it should be; one that is not may go."""
    kinds: dict[Need, tuple[Kind, Level]] = {
        Need.NEEDED: ("pass", "none"),
        Need.REDUNDANT: ("fail", "warning"),
        Need.VIOLATED_ANYWAY: ("fail", "error"),
        Need.UNKNOWN: ("open", "none"),
    }
    kind, level = kinds[reason.need]
    what = reason.fence.kind.replace("thread_fence", "fence")
    return Finding(
        rule=rule("why"),
        kind=kind,
        level=level,
        message=f"{place_text(reason.fence, result)}: {what} for {result.criterion}: {answer_text(reason)}",
        at=reason.fence.at,
        run=reason.result.trace,
        facts={"need": reason.need.value, **model_object(result), "criterion": result.criterion.value},
    )


def why_page(results: Sequence[WhyResult]) -> Page:
    """The page that `memfence why --html` writes: a table a criterion, then the runs."""
    first = results[0]
    tables = [_answers(result) for result in results]
    tables += [table for result in results for table in _runs(result)]
    needs = [reason.need for result in results for reason in result.reasons]
    verdict, tone = _verdict(needs)
    return Page(
        title=f"{first.program.name}: fences under {first.model}",
        subject=first.program.source.path,
        verdict=verdict,
        tone=tone,
        headline=headline(first.with_all),
        facts=(("Memory model", first.model.upper()), ("With all fences", verdict_text(first.with_all))),
        sources=(source_view(first.program.source, {}, None),),
        tables=tuple(tables),
        assumptions=assumptions(first.program, first.model),
    )


def _verdict(needs: Sequence[Need]) -> tuple[str, Tone]:
    if not needs:
        return "NO FENCE", "open"
    if all(need is Need.VIOLATED_ANYWAY for need in needs):
        return "THE PROGRAM FAILS AS IT IS", "bad"
    if all(need is Need.NEEDED for need in needs):
        return "EVERY FENCE IS NEEDED", "good"
    return ("UNKNOWN", "open") if Need.UNKNOWN in needs else ("NOT EVERY FENCE IS NEEDED", "bad")


def _answers(result: WhyResult) -> TableView:
    if all(reason.need is Need.VIOLATED_ANYWAY for reason in result.reasons) and result.reasons:
        return TableView(f"Fences for {result.criterion}", ("what to do",), ((fails_anyway(result),),))
    rows = tuple((place_text(r.fence, result), what_text(r.fence, result), answer_text(r)) for r in result.reasons)
    return TableView(f"Fences for {result.criterion}", ("place", title_of(result.program), "needed?"), rows)


def _runs(result: WhyResult) -> list[TableView]:
    return [
        run_as_table(
            weakened_text(reason.fence, place_text(reason.fence, result), "A run without"),
            reason.result.trace,
            " ".join(why_sentences(reason.result.trace)),
        )
        for reason in result.reasons
        if reason.need is Need.NEEDED and reason.result.trace is not None
    ]
