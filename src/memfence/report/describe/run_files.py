"""What `memfence run` writes for other tools: SARIF for code scanning, JUnit for CI."""

from __future__ import annotations

from pathlib import Path

from memfence.questions.run_result import RunFinding, RunResult
from memfence.report.describe.run_text import confirmation_text, finding_text, run_text, verdict_line
from memfence.report.formats.junit import PROBLEMS, TestCase, render_cases
from memfence.report.formats.sarif import Object, render_log
from memfence.report.formats.sarif_places import finding, place
from memfence.running.places import Place
from memfence.source import SourceText
from memfence.tasks.answer import Verdict

WIDTH = 100


def render_junit_run(result: RunResult) -> str:
    """One test case: only a proof is green."""
    case = TestCase(
        group="memfence.run",
        name=" ".join(result.files),
        seconds=result.counts.seconds,
        problem=PROBLEMS[result.verdict],
        kind=result.verdict.value,
        message=verdict_line(result),
        text=run_text(result, width=WIDTH),
    )
    return render_cases([case])


def render_sarif_run(result: RunResult) -> str:
    """A result for each finding; without any, one that says what was proved or left open."""
    texts: dict[str, SourceText] = {path: read_source(path) for path in result.files}
    results = [_finding_result(found, result, texts) for found in result.findings]
    return render_log(results or [_no_finding(result, texts)], ["run"], list(texts.values()))


def _finding_result(found: RunFinding, result: RunResult, texts: dict[str, SourceText]) -> Object:
    confirmed = found.confirmation if found.is_confirmed else None
    more = "" if confirmed is None else f" {confirmation_text(confirmed)}"
    related = []
    for number, fence in enumerate(found.stale.fences if found.stale else (), 1):
        where = _location(fence.after.place, result, texts)
        related.append({"id": number, **where, "message": {"text": "a fence is missing behind this store"}})
    where = _location(found.place, result, texts)
    properties = {"kind": found.kind, "cause": found.cause, "schedule": list(found.schedule)}
    text = finding_text(found) + more
    return finding("run", "fail", _level(found, result), text, where, properties, relatedLocations=related)


def _level(found: RunFinding, result: RunResult) -> str:
    if found.kind != "borderline" or found.is_confirmed:
        return "error"
    return "note" if result.verdict is Verdict.HOLDS else "warning"


def _no_finding(result: RunResult, texts: dict[str, SourceText]) -> Object:
    kind = "pass" if result.verdict is Verdict.HOLDS else "open"
    where = _location(Place(result.files[0], 1), result, texts)
    return finding("run", kind, "none", verdict_line(result), where, {"verdict": result.verdict.value})


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
