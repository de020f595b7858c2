"""The comparison of all criteria: one table, or one JSON object."""

from __future__ import annotations

from memfence.analyses.compare import Compared, Comparison, Question
from memfence.analyses.result import Verdict
from memfence.reports.json import Object, dump
from memfence.reports.table import Column, render_table

COLUMNS = (
    Column("criterion", 12),
    Column("model", 5),
    Column("verdict", 8),
    Column("states", 6, align_right=True),
    Column("time", 6, align_right=True),
    Column("fences", 6, align_right=True),
    Column("how", 10),
)


def render_comparison(comparison: Comparison, *, width: int) -> str:
    """The table, and what it does not say by itself."""
    rows = [_cells(row) for row in comparison.rows]
    table = render_table(COLUMNS, rows, width)
    if table is None:  # a very narrow terminal: one line an answer
        table = "\n".join("  ".join(cells).rstrip() for cells in rows)
    notes = "".join(f"note: {note}\n" for note in comparison.program.notes)
    return f"{comparison.program.source.path}\n{table}\n{notes}"


def comparison_object(comparison: Comparison) -> Object:
    """`memfence compare --json`, before it becomes text."""
    return {
        "file": comparison.program.source.path,
        "notes": list(comparison.program.notes),
        "criteria": {row.question.name: _row_object(row) for row in comparison.rows},
    }


def render_comparison_json(comparison: Comparison) -> str:
    return dump(comparison_object(comparison))


def _cells(row: Compared) -> list[str]:
    is_derived = row.implied_by is not None
    return [
        row.question.criterion,
        _models(row.question),
        _verdict(row),
        "" if is_derived else f"{row.stats.states:,}",
        "" if is_derived else f"{row.stats.seconds:.2f} s",
        "-" if row.fences is None else str(row.fences),
        _how(row),
    ]


def _models(question: Question) -> str:
    return "sc" if question.criterion in ("drf", "trf") else question.model


def _verdict(row: Compared) -> str:
    return f"holds up to {row.bound}" if row.verdict is Verdict.HOLDS_UP_TO else row.verdict.value


def _how(row: Compared) -> str:
    if row.implied_by is not None:
        return f"implied by {row.implied_by.name}"
    return row.limit or "computed"


def _row_object(row: Compared) -> Object:
    return {
        "criterion": row.question.criterion,
        "model": row.question.model,
        "verdict": row.verdict.value,
        "bound": row.bound,
        "implied_by": None if row.implied_by is None else row.implied_by.name,
        "limit": row.limit,
        "fences": row.fences,
        "stats": {
            "states": row.stats.states,
            "transitions": row.stats.transitions,
            "seconds": round(row.stats.seconds, 6),
        },
    }
