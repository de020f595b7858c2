"""The report of `--mutate`: how many mutants are noticed, and what became of the others."""

from __future__ import annotations

from collections.abc import Iterator

from memfence.report.describe.found import PROBLEMS, finding_of, rule, tone_of_problem
from memfence.report.describe.models_text import answer_object, reason_text, verdict_text
from memfence.report.formats.json import Object
from memfence.report.page import Page, TableView
from memfence.report.report import Case, Finding, Problem, Report
from memfence.report.views.source_view import source_view
from memfence.report.views.table import Column, render_table
from memfence.synthesis.mutation.mutants import Mutant
from memfence.synthesis.mutation.score import JudgedMutant, Mutation

COLUMNS = (Column("place", 5), Column("mutant", 16), Column("noticed", 7), Column("why", 20))
WORDS = {"noticed": "yes", "alike": "the same", "unnoticed": "NO", "unknown": "unknown"}


def mutation_report(result: Mutation) -> Report:
    """All mutants; for CI, each is a case of its own."""
    return Report(
        line=lambda: first_line(result),
        text=lambda style: mutation_text(result, width=style.width, quiet=style.quiet),
        data=lambda: mutation_object(result),
        page=lambda: _page(result),
        findings=lambda: _findings(result),
        case=lambda: _case(result),
        cases=lambda: (_case_of(result, one) for one in result.judged),
        sources=lambda: [result.program.source],
        brief=lambda: f"{result.noticed} of {len(result.judged)} noticed, {result.program.source.path}",
    )


def _problem(result: Mutation) -> Problem:
    return PROBLEMS[result.verdict] or (None if result.is_enough else "failure")


def first_line(result: Mutation) -> str:
    """`34 of 41 noticed`."""
    models, path = ", ".join(result.models), result.program.source.path
    if result.verdict == "violated":
        return f"VIOLATED under {models} as it is: nothing was made weaker ({path})"
    wanted = "" if result.is_enough else f", which is below {result.at_least} %"
    same = result.count("alike")
    of = f" of those that some model can tell ({same} cannot be told)" if same else ""
    return f"{result.noticed} of {len(result.judged)} noticed under {models}: {result.percent} %{of}{wanted} ({path})"


def mutation_text(result: Mutation, *, width: int, quiet: bool = False) -> str:
    """The line, then the mutants that nobody notices, then the others."""
    lines = [first_line(result)]
    rows = [cells(result, one) for one in sorted(result.judged, key=lambda one: one.fate == "noticed")]
    if rows and not quiet:
        table = render_table(COLUMNS, rows, width) or "\n".join("  ".join(row).rstrip() for row in rows)
        lines += ["", *table.splitlines()]
    if not quiet:
        answers = (answer for found in result.before for answer in found.answers)
        lines += ["", *(f"  as it is, {a.name} {verdict_text(a)}: {reason_text(a)}" for a in answers)]
    return "\n".join(lines) + "\n"


def name_of(mutant: Mutant) -> str:
    """What is changed."""
    return f"{mutant.of}: {mutant.was} -> {mutant.becomes}"


def _place(result: Mutation, mutant: Mutant) -> str:
    source, at = mutant.span.source, f"{mutant.span.line}:{mutant.span.column}"
    return at if source is result.program.source else f"{source.path}:{at}"


def cells(result: Mutation, one: JudgedMutant) -> tuple[str, ...]:
    """A row of the table."""
    return _place(result, one.mutant), name_of(one.mutant), WORDS[one.fate], why(one)


def why(one: JudgedMutant) -> str:
    """Who notices, or why nobody does."""
    same = f"the same to {', '.join(one.alike_under)}" if one.alike_under else ""
    match one.fate:
        case "noticed":
            assert one.answer is not None
            return f"{one.answer.name}: {reason_text(one.answer)}"
        case "alike":
            return f"{same}: every access and fence is translated as before"
        case "unnoticed":
            rest = "no execution fails with it: nothing here needs what it takes away, or the test is too weak"
            return f"{same}; elsewhere {rest}" if same else rest
        case "unknown":
            return "nothing was seen to fail within the limits"


def mutation_object(result: Mutation) -> Object:
    """What `--json` prints."""
    return {
        "file": result.program.source.path,
        "model": ",".join(result.models),
        "criterion": "safety",
        "verdict": result.verdict.value,
        "models": [answer_object(answer) for found in result.before for answer in found.answers],
        "mutants": [
            {
                "file": one.mutant.span.source.path,
                "line": one.mutant.span.line,
                "text": one.mutant.span.text,
                "kind": one.mutant.kind,
                "of": one.mutant.of,
                "was": one.mutant.was,
                "becomes": one.mutant.becomes,
                "fate": one.fate,
                "model": None if one.answer is None else one.answer.name,
                "alike": list(one.alike_under),
                "reason": why(one),
            }
            for one in result.judged
        ],
        "noticed": result.noticed,
        "alike": result.count("alike"),
        "percent": result.percent,
        "at_least": result.at_least,
        "enough": result.is_enough,
        "stats": {"seconds": round(result.seconds, 6)},
    }


def _case(result: Mutation) -> Case:
    name = result.program.source.path
    group = f"memfence.{','.join(result.models)}.mutate"
    return Case(group=group, name=name, kind=result.verdict.value, problem=_problem(result), seconds=result.seconds)


def _case_of(result: Mutation, one: JudgedMutant) -> Case:
    problems: dict[str, Problem] = {"noticed": None, "alike": None, "unnoticed": "failure", "unknown": "error"}
    place = f"{one.mutant.span.source.path}:{one.mutant.span.line}:{one.mutant.span.column}"
    group = f"memfence.{','.join(result.models)}.mutate"
    name = f"{place}: {name_of(one.mutant)}"
    return Case(group=group, name=name, kind=one.fate, problem=problems[one.fate], text=why(one))


def _findings(result: Mutation) -> Iterator[Finding]:
    yield finding_of("mutate", _problem(result), first_line(result), result.program.source.span(0, 0))
    for one in result.judged:
        if one.fate in ("unnoticed", "unknown"):
            said = f"nobody notices {name_of(one.mutant)}: {why(one)}"
            yield Finding(rule=rule("mutate"), kind="review", level="note", message=said, at=one.mutant.span)


def _page(result: Mutation) -> Page:
    rows = tuple(cells(result, one) for one in result.judged)
    titles = tuple(column.title for column in COLUMNS)
    return Page(
        title=f"{result.program.name}: what the test does not notice",
        subject=result.program.source.path,
        verdict=f"{result.percent} %" if result.verdict != "violated" else "VIOLATED",
        tone=tone_of_problem(_problem(result)),
        headline=first_line(result),
        facts=tuple((a.name, verdict_text(a)) for found in result.before for a in found.answers),
        sources=(source_view(result.program.source, {}),),
        tables=(TableView("Mutants", titles, rows),) if rows else (),
    )
