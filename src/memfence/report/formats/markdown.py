"""Reports as Markdown, for pull requests and issues: the verdict, the facts, the tables and the patch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memfence.report.page import TableView
from memfence.report.report import Patch, Report

SPECIAL = re.compile(r"([\\`*_\[\]<>|~])")
CODE = re.compile(r"(`[^`\n]+`)")


def render(report: Report) -> str:
    """The report as one piece of Markdown, as GitHub reads it."""
    return "\n\n".join(_blocks(report)) + "\n"


def _blocks(report: Report) -> Iterator[str]:
    page = report.page()
    yield f"**{_text(page.verdict)}**: {_text(page.headline)}"
    yield from (_table(table) for table in page.tables)
    facts = [f"* {_text(name)}: {_text(text)}" for name, text in page.facts]
    if facts:
        yield "\n".join(facts)
    patch = next((finding.patch for finding in report.findings() if finding.patch is not None), None)
    if patch is not None:
        yield _diff(patch)


def _table(table: TableView) -> str:
    rows = [table.columns, ("---",) * len(table.columns), *table.rows]
    lines = [
        "| " + " | ".join(_cell(cell, is_rule=number == 1) for cell in row) + " |" for number, row in enumerate(rows)
    ]
    return "\n".join([f"_{_text(table.title)}_", "", *lines])


def _cell(text: str, *, is_rule: bool) -> str:
    return text if is_rule else _text(text).replace("\n", "<br>") or " "


def _text(text: str) -> str:
    """Nothing of it is markup but `code`."""
    parts = CODE.split(text)
    return "".join(part.replace("|", "\\|") if n % 2 else SPECIAL.sub(r"\\\1", part) for n, part in enumerate(parts))


def _diff(patch: Patch) -> str:
    from memfence.synthesis.patch import diff_of

    diff = diff_of(patch.files).rstrip("\n")
    longest = max((len(run) for run in re.findall(r"`+", diff)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}diff\n{diff}\n{fence}"
