"""The report of `memfence compare --variants`: a verdict and a price for each, and which are best."""

from __future__ import annotations

from collections.abc import Iterator

from memfence.report.describe.found import PROBLEMS, kind_and_level, rule, tone_of, top_of
from memfence.report.describe.models_text import bound_text, reason_text, verdict_text
from memfence.report.formats.json import Object
from memfence.report.page import Page, TableView
from memfence.report.report import Case, Finding, Report
from memfence.report.views.execution_view import failing_place
from memfence.report.views.source_view import source_view
from memfence.report.views.table import Column, render_table
from memfence.synthesis.variants import ComparedVariants, VariantAnswers
from memfence.tasks.answer import Verdict

COLUMNS = (
    Column("best", 4),
    Column("variant", 10),
    Column("model", 6),
    Column("verdict", 10),
    Column("loops", 7),
    Column("price", 5, align_right=True),
    Column("why", 18),
)
BEST = "*"
ROUGH = (
    "prices are rough figures for each place of the text, by which `fix --minimise cost` chooses; loops count 10 times"
)
MEASURED = "prices of x86 are measured here, in 0.1 ns; those of other models are rough figures in units of their own"


def variants_report(result: ComparedVariants) -> Report:
    """All variants under all models."""
    return Report(
        line=lambda: f"{_count(result)} under {', '.join(result.models)}",
        text=lambda style: variants_text(result, width=style.width),
        data=lambda: variants_object(result),
        page=lambda: _page(result),
        findings=lambda: (_finding(result, one) for one in result.variants),
        case=lambda: Case(
            group=f"memfence.{','.join(result.models)}.variants",
            name=", ".join(one.variant.name for one in result.variants),
            kind=result.verdict.value,
            problem=PROBLEMS[result.verdict],
            seconds=result.seconds,
        ),
        sources=lambda: [one.variant.program.source for one in result.variants],
        brief=lambda: _count(result),
    )


def variants_text(result: ComparedVariants, *, width: int) -> str:
    """The table, a row for each variant and model, and what is best."""
    rows = [cells for one in result.variants for cells in _rows(one)]
    table = render_table(COLUMNS, rows, width) or "\n".join("  ".join(cells).rstrip() for cells in rows)
    return "\n".join([table, *(f"note: {note}" for note in _notes(result))]) + "\n"


def _rows(one: VariantAnswers) -> Iterator[list[str]]:
    for number, (answer, price) in enumerate(zip(one.found.answers, one.prices, strict=True)):
        head = ["", ""] if number else [BEST if one.is_best else "", one.variant.name]
        why = "" if answer.verdict is Verdict.HOLDS else reason_text(answer)
        yield [*head, answer.name, verdict_text(answer), bound_text(answer), str(price), why]


def _count(result: ComparedVariants) -> str:
    working = sum(one.fails_nowhere for one in result.variants)
    proved = sum(one.found.verdict is Verdict.HOLDS for one in result.variants)
    bounded = "" if proved == working else f" ({working - proved} as far as loops were followed)"
    return f"{working} of {len(result.variants)} variants work{bounded}"


def _notes(result: ComparedVariants) -> Iterator[str]:
    yield f"{_count(result)} under {', '.join(result.models)}"
    if result.best:
        names = ", ".join(f"`{one.variant.name}`" for one in result.best)
        yield f"{BEST} {names}: no other that works is cheaper under one model and no dearer under the others"
    yield MEASURED if result.measured else ROUGH
    yield from dict.fromkeys(note for one in result.variants for note in one.variant.program.notes)


def variants_object(result: ComparedVariants) -> Object:
    """What `--json` prints."""
    return {
        "verdict": result.verdict.value,
        "models": list(result.models),
        "variants": [_object(one) for one in result.variants],
        "best": [one.variant.name for one in result.best],
        "measured": result.measured,
        "stats": {"seconds": round(result.seconds, 6)},
    }


def _object(one: VariantAnswers) -> Object:
    return {
        "variant": one.variant.name,
        "file": one.variant.file,
        "macros": list(one.variant.macros),
        "revision": one.variant.revision or None,
        "verdict": one.found.verdict.value,
        "best": one.is_best,
        "notes": list(one.variant.program.notes),
        "assumptions": list(one.variant.program.assumed),
        "models": [
            {
                "model": answer.name,
                "verdict": answer.verdict.value,
                "unrolled": answer.unrolled,
                "variants": list(answer.variants),
                "price": price,
                "reason": reason_text(answer),
            }
            for answer, price in zip(one.found.answers, one.prices, strict=True)
        ],
    }


def _finding(result: ComparedVariants, one: VariantAnswers) -> Finding:
    """One that fails is a note: there may be others to choose from."""
    kind, level = kind_and_level(one.found.verdict)
    answers = ", ".join(f"{answer.name} {verdict_text(answer)}" for answer in one.found.answers)
    shown = next((answer.shown for answer in one.found.answers if answer.shown is not None), None)
    at = None if shown is None else failing_place(shown)
    is_hopeless = result.verdict is Verdict.VIOLATED
    return Finding(
        rule=rule("variants"),
        kind=kind,
        level="note" if kind == "fail" and not is_hopeless else level,
        message=f"{one.variant.name}: {answers}{'; best' if one.is_best else ''}",
        at=at or top_of(one.variant.program.source),
        facts={"verdict": one.found.verdict.value, "best": one.is_best, "prices": list(one.prices)},
    )


def _page(result: ComparedVariants) -> Page:
    columns = ("variant", *result.models, "price", "best")
    rows = tuple(
        (
            one.variant.name,
            *(f"{verdict_text(a)} {b}".strip() if (b := bound_text(a)) else verdict_text(a) for a in one.found.answers),
            " / ".join(map(str, one.prices)),
            BEST if one.is_best else "",
        )
        for one in result.variants
    )
    reasons = tuple(
        (one.variant.name, answer.name, reason_text(answer))
        for one in result.variants
        for answer in one.found.answers
        if answer.verdict is not Verdict.HOLDS
    )
    tables = (TableView("Variants", columns, rows), TableView("Why", ("variant", "model", "why"), reasons))
    sources = dict.fromkeys(one.variant.program.source for one in result.variants)
    return Page(
        title="memfence: variants",
        subject=", ".join(one.variant.name for one in result.variants),
        verdict=f"{sum(one.fails_nowhere for one in result.variants)} of {len(result.variants)} work",
        tone=tone_of(result.verdict),
        headline=f"{_count(result)} under {', '.join(result.models)}",
        facts=tuple(("Note", note) for note in _notes(result)),
        sources=tuple(source_view(source, {}) for source in sources),
        tables=tuple(table for table in tables if table.rows),
    )
