"""What `memfence run` writes for other tools: SARIF for code scanning, JUnit for CI."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from memfence.questions.run_result import RunFinding, RunResult
from memfence.reports.junit import TestCase, render_cases
from memfence.reports.running import confirmation_text, finding_text, run_text, verdict_line
from memfence.reports.sarif import Object, render_log
from memfence.reports.sarif_places import place
from memfence.running.places import Place
from memfence.source import SourceText
from memfence.tasks.answer import Verdict

WIDTH = 100


def render_junit_run(result: RunResult) -> str:
    """One test case: only a proof is green."""
    problems: dict[Verdict, Literal["failure", "error"] | None] = {
        Verdict.HOLDS: None,
        Verdict.VIOLATED: "failure",
        Verdict.HOLDS_UP_TO: "error",
        Verdict.UNKNOWN: "error",
    }
    case = TestCase(
        group="memfence.run",
        name=" ".join(result.files),
        seconds=result.counts.seconds,
        problem=problems[result.verdict],
        kind=result.verdict.value,
        message=verdict_line(result),
        text=run_text(result, width=WIDTH),
    )
    return render_cases([case])


def render_sarif_run(result: RunResult) -> str:
    """A result for each finding; without any, one that says what was proved or left open."""
    texts: dict[str, SourceText] = {path: read_source(path) for path in result.files}
    results = [_finding_result(finding, result, texts) for finding in result.findings]
    return render_log(results or [_no_finding(result, texts)], ["run"], list(texts.values()))


def _finding_result(finding: RunFinding, result: RunResult, texts: dict[str, SourceText]) -> Object:
    confirmed = finding.confirmation if finding.is_confirmed else None
    more = "" if confirmed is None else f" {confirmation_text(confirmed)}"
    related = []
    for number, fence in enumerate(finding.stale.fences if finding.stale else (), 1):
        where = _location(fence.after.place, result, texts)
        related.append({"id": number, **where, "message": {"text": "a fence is missing behind this store"}})
    return {
        "ruleId": "memfence/run",
        "kind": "fail",
        "level": _level(finding, result),
        "message": {"text": finding_text(finding) + more},
        "locations": [_location(finding.place, result, texts)],
        **({"relatedLocations": related} if related else {}),
        "properties": {"kind": finding.kind, "cause": finding.cause, "schedule": list(finding.schedule)},
    }


def _level(finding: RunFinding, result: RunResult) -> str:
    if finding.kind != "borderline" or finding.is_confirmed:
        return "error"
    return "note" if result.verdict is Verdict.HOLDS else "warning"


def _no_finding(result: RunResult, texts: dict[str, SourceText]) -> Object:
    return {
        "ruleId": "memfence/run",
        "kind": "pass" if result.verdict is Verdict.HOLDS else "open",
        "level": "none",
        "message": {"text": verdict_line(result)},
        "locations": [_location(Place(result.files[0], 1), result, texts)],
        "properties": {"verdict": result.verdict.value},
    }


def _location(where: Place, result: RunResult, texts: dict[str, SourceText]) -> Object:
    path = where.path if where.line else result.files[0]
    source = texts.setdefault(path, read_source(path))
    start = source.start_of_line(max(1, where.line))
    return place(source.span(start, start))


def read_source(path: str) -> SourceText:
    """The text of a file; empty where it has none."""
    try:
        return SourceText(path, Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return SourceText(path, "")
