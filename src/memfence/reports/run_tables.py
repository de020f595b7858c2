"""Runs as plain tables of a page, beside the one that can be stepped through."""

from __future__ import annotations

from memfence.execution.trace import Trace
from memfence.reports.page import TableView
from memfence.reports.run_table import actions, changed_memory


def run_as_table(title: str, trace: Trace, note: str = "") -> TableView:
    """A column a process, and what changed in memory."""
    processes = trace.program.processes
    rows = []
    for position in range(len(trace.steps)):
        cells = actions(trace, position)
        mine = (cells.get(number, "") for number, _ in enumerate(processes))
        rows.append((str(position + 1), *mine, changed_memory(trace, position)))
    return TableView(title, ("step", *(process.name for process in processes), "memory"), tuple(rows), note)
