"""The page of a check under several models: one table, and the executions behind it as drawings and tables."""

from __future__ import annotations

from memfence.report.describe.models_text import COLUMNS, EVENTS, cells_of, explanations, notes
from memfence.report.page import Page, TableView, Tone
from memfence.report.views.execution_svg import execution_svg
from memfence.report.views.execution_view import ExecutionView, failed_text
from memfence.report.views.source_view import source_view
from memfence.report.words.vacuity import models_warnings
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import Counterexample
from memfence.tasks.result import ModelAnswer, ModelsResult


def models_page(result: ModelsResult) -> Page:
    """The page that `memfence check --model LIST --html` writes."""
    worst = result.verdict
    tones: dict[Verdict, Tone] = {Verdict.HOLDS: "good", Verdict.VIOLATED: "bad"}
    shown = [(answer, answer.shown) for answer in result.answers if answer.shown is not None]
    models = TableView("Models", tuple(c.title for c in COLUMNS), tuple(map(cells_of, result.answers)))
    holding = sum(answer.verdict is Verdict.HOLDS for answer in result.answers)
    return Page(
        title=f"{result.program.name}: one verdict for each model",
        subject=result.program.source.path,
        verdict=f"{holding} of {len(result.answers)} hold",
        tone=tones.get(worst, "open"),
        headline="the same program under several memory models",
        facts=(
            *(("Note", note) for note in notes(result)),
            *(("Warning", f"{one.message} ({one.at.span.place})") for one in models_warnings(result)),
        ),
        details=tuple(f"{answer.name}: {text}" for answer, found in shown for text in explanations(found)),
        sources=(source_view(result.program.source, {}),),
        tables=(models, *(_events(answer, found) for answer, found in shown)),
        plots=tuple(execution_svg(found) for _, found in shown),
    )


def _events(answer: ModelAnswer, found: Counterexample) -> TableView:
    rows = ExecutionView(found.execution).rows()
    cells = tuple((str(row.number), row.thread, row.place, row.action, row.source) for row in rows)
    return TableView(f"{answer.name}: {failed_text(found)}", tuple(c.title for c in EVENTS), cells)
