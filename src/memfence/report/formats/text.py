"""Reports as plain text, as a terminal of 100 columns shows them."""

from __future__ import annotations

from memfence.report.report import Report, Style


def render(report: Report) -> str:
    """The whole report."""
    return report.text(Style())
