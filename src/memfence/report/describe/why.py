"""The HTML report of `memfence why`: which fences are needed, and the run that appears without each."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.report.describe.check_text import verdict_text
from memfence.report.describe.why_text import answer_text, fails_anyway, place_text, title_of, weakened_text, what_text
from memfence.report.report import Page, TableView, Tone
from memfence.report.views.run_tables import run_as_table
from memfence.report.views.source_view import source_view
from memfence.report.words.coverage import assumptions
from memfence.report.words.findings import headline
from memfence.report.words.reason import why_sentences
from memfence.synthesis.necessity import Need, WhyResult


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
