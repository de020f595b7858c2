"""The formats that reports are written in.

A format is a file here with a function `render`, and a line in `FORMATS`: every verb that prints an object has an
option of that name then, and every result in Python can be written so.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from memfence.records import Record

if TYPE_CHECKING:
    from memfence.report.report import Report


class Format(Record):
    """`help`: what the option of that name does. `for_people`: to be looked at; where the input cannot be used there is
    nothing to see."""

    name: str
    help: str
    for_people: bool = False

    def render(self, report: Report) -> str:
        """The report as one text."""
        text: str = import_module(f"memfence.report.formats.{self.name}").render(report)
        return text


FORMATS = (
    Format("html", "Also write a page, with the run to step through.", for_people=True),
    Format("markdown", "Also write Markdown, for a pull request.", for_people=True),
    Format("sarif", "Also write SARIF 2.1.0, for code scanning and editors."),
    Format("junit", "Also write JUnit XML, for CI."),
    Format("github", "Also write annotations for GitHub's workflows."),
)
FORMAT_NAMES = frozenset(form.name for form in FORMATS)
