"""The report of a check under several models: a verdict per model, and the executions behind them."""

from __future__ import annotations

from collections.abc import Iterator

from memfence.report.describe.check import check_finding
from memfence.report.describe.found import PROBLEMS, finding_of, of_warning, top_of
from memfence.report.describe.models_page import models_page
from memfence.report.describe.models_text import explanations, models_object, reason_text, render_models, verdict_text
from memfence.report.report import Case, Finding, Report
from memfence.report.views.execution_view import failing_place
from memfence.report.words.vacuity import models_warnings
from memfence.tasks.result import ModelAnswer, ModelsResult


def models_report(result: ModelsResult) -> Report:
    """The answers for all models."""
    names = ",".join(answer.name for answer in result.answers)
    path = result.program.source.path
    return Report(
        line=lambda: f"{path}: {', '.join(f'{answer.name} {verdict_text(answer)}' for answer in result.answers)}",
        text=lambda style: render_models(result, width=style.width, quiet=style.quiet, verbose=style.verbose),
        data=lambda: models_object(result),
        page=lambda: models_page(result),
        findings=lambda: _findings(result),
        case=lambda: Case(
            group=f"memfence.{names}.{result.criterion}",
            name=path,
            kind=result.verdict.value,
            problem=PROBLEMS[result.verdict],
            seconds=result.seconds,
        ),
        sources=lambda: [result.program.source],
        brief=lambda: f"{', '.join(f'{a.name} {verdict_text(a)}' for a in result.answers)}, {path}",
    )


def _findings(result: ModelsResult) -> Iterator[Finding]:
    """The verdict under each model, then the warnings."""
    yield from (_finding(result, answer) for answer in result.answers)
    yield from map(of_warning, models_warnings(result))


def _finding(result: ModelsResult, answer: ModelAnswer) -> Finding:
    if answer.check is not None:
        return check_finding(answer.check)
    source = result.program.source
    line = f"{source.path}: {verdict_text(answer)} under {answer.name} ({result.criterion}): {reason_text(answer)}"
    found = answer.shown
    return finding_of(
        result.criterion.value,
        PROBLEMS[answer.verdict],
        " ".join([f"{line}.", *(() if found is None else explanations(found))]),
        (None if found is None else failing_place(found)) or top_of(source),
        facts={"verdict": answer.verdict.value, "model": answer.name, "criterion": result.criterion.value},
    )
