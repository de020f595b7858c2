"""An input that cannot be used, as a report."""

from __future__ import annotations

from memfence.diagnostics import InputError, render
from memfence.report.describe.check_data import error_object
from memfence.report.describe.found import of_diagnostic
from memfence.report.page import Page
from memfence.report.report import Case, Report


def error_report(error: InputError, file: str) -> Report:
    """`file`: as the user named it; the diagnostics may be about others that it includes."""
    messages = "; ".join(f"{d.code.id}: {d.message}" for d in error.diagnostics)
    return Report(
        line=lambda: messages,
        text=lambda _: render(error.diagnostics),
        data=lambda: error_object(error),
        page=lambda: Page(file, file, "NOT READ", "bad", messages, ()),
        findings=lambda: (of_diagnostic(one) for one in error.diagnostics),
        case=lambda: Case(group="memfence", name=file, kind="input", problem="error"),
        sources=lambda: (one.at.span.source for one in error.diagnostics),
        is_about_input=True,
    )
