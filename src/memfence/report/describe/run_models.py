"""The report of `memfence run --model LIST`: a row per model, then what each shows."""

from __future__ import annotations

from dataclasses import replace

from memfence.questions.run_models import RunModels
from memfence.questions.run_result import RunResult
from memfence.report.describe.found import PROBLEMS
from memfence.report.describe.run import run_report
from memfence.report.describe.run_json import run_object
from memfence.report.describe.run_text import verdict_line
from memfence.report.formats.json import Object
from memfence.report.page import Page, TableView
from memfence.report.report import Case, Report, Style
from memfence.report.views.table import Column, render_table
from memfence.tasks.answer import Verdict

COLUMNS = (Column("model", 6), Column("verdict", 10), Column("executions", 10, align_right=True), Column("why", 20))
WORDS = {Verdict.HOLDS: "HOLDS", Verdict.VIOLATED: "VIOLATED", Verdict.UNKNOWN: "UNKNOWN"}


def run_models_report(result: RunModels) -> Report:
    """One compiled program under several models."""
    reports = [run_report(one) for one in result.results]
    files = " ".join(result.results[0].files)
    return Report(
        line=lambda: f"{files}: {', '.join(f'{one.options.model} {_verdict(one)}' for one in result.results)}",
        text=lambda style: _text(result, reports, style),
        data=lambda: run_models_object(result),
        page=lambda: _page(result, reports),
        findings=lambda: [finding for one in reports for finding in one.findings()],
        case=lambda: Case(
            group="memfence.run",
            name=files,
            kind=result.verdict.value,
            problem=PROBLEMS[result.verdict],
            seconds=sum(one.counts.seconds for one in result.results),
        ),
        sources=lambda: reports[0].sources(),
        brief=lambda: f"{result.verdict}, {files}",
    )


def _verdict(result: RunResult) -> str:
    return WORDS.get(result.verdict, "NO VIOLATION")


def _row(result: RunResult) -> list[str]:
    """The verdict, and what the line of one model says besides."""
    _, _, why = verdict_line(result).rpartition("(run): ")
    return [result.options.model, _verdict(result), f"{result.counts.executions:,}", why]


def _text(result: RunModels, reports: list[Report], style: Style) -> str:
    """The table; unless `quiet`, the whole text of each model below it."""
    rows = [_row(one) for one in result.results]
    table = render_table(COLUMNS, rows, style.width) or "\n".join("  ".join(row) for row in rows)
    texts = [] if style.quiet else [one.text(style) for one in reports]
    return "\n".join([f"{' '.join(result.results[0].files)}\n{table}\n", *texts])


def _page(result: RunModels, reports: list[Report]) -> Page:
    """The page of the first model with the worst verdict, with the table of all."""
    worst = next(number for number, one in enumerate(result.results) if one.verdict is result.verdict)
    page = reports[worst].page()
    table = TableView("Models", tuple(one.title for one in COLUMNS), tuple(tuple(_row(one)) for one in result.results))
    return replace(page, tables=(table, *page.tables))


def run_models_object(result: RunModels) -> Object:
    """`memfence run --model LIST --json`, before it becomes text."""
    objects = [run_object(one) for one in result.results]
    return {
        "files": list(result.results[0].files),
        "verdict": result.verdict.value,
        "model": ",".join(one.options.model for one in result.results),
        "executions": sum(one["executions"] for one in objects),
        "blocked": sum(one["blocked"] for one in objects),
        "models": objects,
    }
