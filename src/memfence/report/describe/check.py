"""The report of a check. What only some formats need is imported when they ask: most checks print text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from memfence.report.describe.check_text import render_text, verdict_line, verdict_text
from memfence.report.describe.found import PROBLEMS, finding_of, of_warning, top_of
from memfence.report.report import Case, Finding, Report
from memfence.report.words.coverage import assumptions
from memfence.report.words.essential_places import essential_places
from memfence.report.words.model_name import model_object
from memfence.report.words.properties import criterion_name, property_line
from memfence.report.words.reason import reasons
from memfence.report.words.sentences import detail_lines, scope_text
from memfence.report.words.vacuity import warnings_of
from memfence.tasks.result import CheckResult

if TYPE_CHECKING:
    from memfence.certificates.result import Certified
    from memfence.report.page import Page
    from memfence.synthesis.result import Fix


def check_report(result: CheckResult, proof: Certified | None = None) -> Report:
    """With what became of the `proof`, where one was asked for."""
    return Report(
        line=lambda: verdict_line(result),
        text=lambda style: (
            f"{verdict_line(result)}\n"
            if style.quiet
            else render_text(result, width=style.width, verbose=style.verbose)
        ),
        data=lambda: _data(result, proof),
        page=lambda: _page(result, proof),
        findings=lambda: _findings(result),
        case=lambda: Case(
            group=f"memfence.{result.model}.{result.criterion}",
            name=f"{result.program.source.path}: {property_line(result)}",
            kind=result.verdict.value,
            problem=PROBLEMS[result.verdict],
            seconds=result.stats.seconds,
        ),
        sources=lambda: [result.program.source],
        brief=lambda: f"{verdict_text(result)} under {result.model} ({result.criterion}), {result.program.source.path}",
    )


def _data(result: CheckResult, proof: Certified | None) -> dict[str, Any]:
    from memfence.report.describe.check_data import check_object

    if proof is None:
        return check_object(result)
    from memfence.report.describe.verify import proof_object

    return {**check_object(result), "proof": proof_object(proof)}


def _page(result: CheckResult, proof: Certified | None) -> Page:
    from memfence.report.describe.check_page import check_page

    return check_page(result, proof)


def _findings(result: CheckResult) -> Iterator[Finding]:
    """The verdict with its run, and every warning."""
    yield check_finding(result)
    yield from map(of_warning, warnings_of(result))


def check_finding(result: CheckResult) -> Finding:
    """The verdict, where it comes about, and the run that shows it."""
    places = [] if result.trace is None else essential_places(result.trace)
    return finding_of(
        result.criterion.value,
        PROBLEMS[result.verdict],
        " ".join([verdict_line(result), *reasons(result), *detail_lines(result)]),
        places[0][0] if places else top_of(result.program.source),
        related=tuple(places[1:]),
        run=result.trace,
        facts={
            **what_was_asked(result, criterion_name(result.criterion, result.properties), scope_text(result)),
            "bound": result.bound,
            "engine": result.engine,
            "states": result.stats.states,
            "transitions": result.stats.transitions,
        },
    )


def what_was_asked(result: CheckResult | Fix, criterion: str, scope: str) -> dict[str, Any]:
    """The verdict, and what it is about."""
    return {
        "verdict": result.verdict.value,
        **model_object(result),
        "criterion": criterion,
        "scope": scope,
        "assumptions": list(assumptions(result.program, result.model)),
    }
