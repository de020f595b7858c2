"""Runs as plain tables of a page, beside the one that can be stepped through."""

from __future__ import annotations

from memfence.execution.trace import Trace
from memfence.report.page import TableView
from memfence.report.views.run_table import cells_of, changed_memory
from memfence.report.views.shown_run import rows_of, shown_processes


def run_as_table(title: str, trace: Trace, note: str = "") -> TableView:
    """A column a process, and what changed in memory."""
    doing = shown_processes(trace)
    rows = tuple(
        (str(row.position + 1), *cells_of(trace, row.position, doing), changed_memory(trace, row))
        for row in rows_of(trace)
    )
    names = (trace.program.processes[number].name for number in doing)
    return TableView(title, ("step", *names, "memory"), rows, note)
