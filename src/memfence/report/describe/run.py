"""The report of `memfence run`: every finding, the one that matters most step by step, and what to fence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from memfence.binary.places import SourceLine
from memfence.binary.steps import ProgramStep
from memfence.questions.run_result import RunFinding, RunResult
from memfence.report.describe.found import PROBLEMS, rule, tone_of
from memfence.report.describe.run_json import run_object
from memfence.report.describe.run_text import (
    bound_words,
    confirmation_text,
    fence_text,
    finding_text,
    is_only_borderline,
    leak_text,
    race_text,
    run_facts,
    run_text,
    shown_first,
    step_text,
    suggested_fences,
    verdict_line,
)  # fmt: skip
from memfence.report.page import Mark, Page, RunView, SourceView, TableView
from memfence.report.report import Case, Finding, Kind, Level, Report
from memfence.report.views.program_view import program_view
from memfence.report.views.source_view import source_view
from memfence.source import SourceText, Span
from memfence.tasks.answer import Verdict


def run_report(result: RunResult) -> Report:
    """Every execution of a compiled program that matters."""
    return Report(
        line=lambda: verdict_line(result),
        text=lambda style: run_text(result, width=style.width, quiet=style.quiet),
        data=lambda: run_object(result),
        page=lambda: running_page(result),
        findings=lambda: _findings(result),
        case=lambda: Case(
            group="memfence.run",
            name=" ".join(result.files),
            kind=result.verdict.value,
            problem=PROBLEMS[result.verdict],
            seconds=result.counts.seconds,
        ),
        sources=lambda: [*map(read_source, result.files), *(one.at.source for one in _findings(result) if one.at)],
        brief=lambda: f"{result.verdict}, {' '.join(result.files)}",
    )


def _findings(result: RunResult) -> list[Finding]:
    """A result for each finding; without any, one that says what was proved or left open."""
    if result.findings:
        return [_finding(found, result) for found in result.findings]
    kind: Kind = "pass" if result.verdict is Verdict.HOLDS else "open"
    line, facts = verdict_line(result), {"verdict": result.verdict.value}
    at = span_of(SourceLine(result.files[0], 1), result.files)
    return [Finding(rule=rule("run"), kind=kind, level="none", message=line, at=at, facts=facts)]


def _finding(found: RunFinding, result: RunResult) -> Finding:
    fences = found.stale.fences if found.stale else ()
    missing = "a fence is missing behind this store"
    return Finding(
        rule=rule("run"),
        kind="fail",
        level=_level(found, result),
        message=_message(found),
        at=span_of(found.place, result.files),
        related=tuple((span_of(fence.after.place, result.files), missing) for fence in fences),
        facts={"kind": found.kind, "cause": found.cause, "schedule": list(found.schedule)},
    )


def _message(found: RunFinding) -> str:
    confirmed = found.confirmation if found.is_confirmed else None
    return finding_text(found) + ("" if confirmed is None else f" {confirmation_text(confirmed)}")


def _level(found: RunFinding, result: RunResult) -> Level:
    if found.kind != "borderline" or found.is_confirmed:
        return "error"
    return "note" if result.verdict is Verdict.HOLDS else "warning"


def span_of(where: SourceLine, files: Sequence[str]) -> Span:
    """The beginning of the line; what has none is about the first file."""
    source = read_source(where.path if where.line else files[0])
    start = source.start_of_line(max(1, where.line))
    return source.span(start, start)


@cache
def read_source(path: str) -> SourceText:
    """The text of a file; empty where it has none."""
    try:
        return SourceText(path, Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return SourceText(path, "")


def running_page(result: RunResult) -> Page:
    """The page that `memfence run --html` writes."""
    found = shown_first(result.findings)
    steps = _steps(found[0]) if found else ()
    sources = _sources(result, steps)
    name, _, headline = verdict_line(result).partition(": ")[2].partition(" (run): ")
    counts = result.counts
    return Page(
        title=f"{' '.join(result.files)}: executions of a compiled program",
        subject=" ".join(result.files),
        verdict=_verdict(result),
        tone=tone_of(result.verdict),
        headline=headline or name,
        facts=tuple((fact.capitalize(), text) for fact, text in run_facts(result) if fact not in ("warning", "search")),
        why=tuple(_why(finding) for finding in found),
        run=_run(steps, sources, found[0]) if steps else None,
        run_title="The run that goes wrong" if found and found[0].is_wrong else "The borderline execution",
        sources=tuple(_source_view(number, source, steps) for number, source in enumerate(sources)),
        tables=tuple(_tables(result, found)),
        warnings=(*map(race_text, result.races), *map(leak_text, result.leaks)),
        assumptions=tuple(f"Not more was run than {bound}." for bound in bound_words(result)),
        statistics=(
            ("executions", f"{counts.executions:,}"),
            ("borderline", f"{counts.borderline:,}"),
            ("failing", f"{counts.failing:,}"),
            ("stuck", f"{counts.deadlocked:,}"),
            ("steps", f"{counts.steps:,}"),
            ("seconds", f"{counts.seconds:.2f}"),
        ),
    )


def _verdict(result: RunResult) -> str:
    if result.verdict is Verdict.UNKNOWN and is_only_borderline(result):
        return "NOT ROBUST"
    return "NO VIOLATION within a bound" if result.verdict is Verdict.HOLDS_UP_TO else result.verdict.name


def _why(finding: RunFinding) -> str:
    tried = "" if finding.confirmation is None else f" {confirmation_text(finding.confirmation).rstrip(':.')}."
    return finding_text(finding) + tried


def _steps(finding: RunFinding) -> tuple[ProgramStep, ...]:
    confirmed = finding.confirmation if finding.is_confirmed else None
    return finding.steps if confirmed is None else confirmed.steps


def _sources(result: RunResult, steps: tuple[ProgramStep, ...]) -> list[SourceText]:
    """The files that were given, then all others in which a step happens; an executable is no text."""
    paths = [*(path for path in result.files if read_source(path).text), *(step.place.path for step in steps)]
    return [source for path in dict.fromkeys(paths) if path and (source := read_source(path)).text]


def _run(steps: tuple[ProgramStep, ...], sources: list[SourceText], finding: RunFinding) -> RunView:
    confirmed = finding.confirmation if finding.is_confirmed else None
    failure = finding.message if confirmed is None else confirmed.message
    waiting = finding.waiting if confirmed is None else confirmed.waiting
    return program_view(
        steps,
        waiting if finding.is_wrong else (),
        sources,
        failure if finding.is_wrong else "",
        buffered=confirmed is not None or finding.is_buffered,
    )


def _source_view(number: int, source: SourceText, steps: tuple[ProgramStep, ...]) -> SourceView:
    marks: dict[int, list[Mark]] = {}
    for position, step in enumerate(steps, 1):
        if step.place.path == source.path and step.kind != "flush":
            marks.setdefault(step.place.line, []).append(Mark(position, step.thread))
    return source_view(source, marks)


def _tables(result: RunResult, found: list[RunFinding]) -> list[TableView]:
    tables = []
    for finding in found[:1]:
        if finding.stale is not None:
            rows = tuple((str(step.thread), step_text(step), step.place.text) for step in finding.stale.path)
            tables.append(TableView("How the store happens before the load", ("thread", "does", "at"), rows))
    fences = tuple((str(fence.thread), fence_text(fence)) for fence in suggested_fences(result))
    if fences:
        tables.append(TableView("What to fence", ("thread", "where"), fences))
    return tables
