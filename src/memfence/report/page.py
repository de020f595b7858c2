"""What an HTML report shows, as data: any command can put one together; `html.render_html` draws it.

Steps are counted from 1 as everywhere people see them; step 0 is the start. Processes and variables go by number.
"""

from __future__ import annotations

from typing import Literal

from memfence.records import Record
from memfence.report.views.colours import Part

Tone = Literal["good", "bad", "open"]
"""Proved; refuted; neither."""


class Pending(Record):
    """A store in a buffer and the step that issued it; a separator (PSO) has no variable."""

    variable: int | None
    value: int
    issued: int


class AccessView(Record):
    """One access of a step; `overtakes` are the steps whose stores were pending though issued earlier."""

    kind: str
    process: int
    variable: int
    value: int
    overtakes: tuple[int, ...] = ()


class ActionView(Record):
    """What one process does in a step: its text and, where it has one, its place: source, line, columns.

    `calls`: the lines of the calls that lead there, `40→12`; empty for the code of the process itself.
    """

    process: int
    text: str
    values: str = ""
    source: int | None = None
    line: int = 0
    first_column: int = 0
    last_column: int = 0
    calls: str = ""


class StepView(Record):
    """A step and the state after it: `buffers[process][buffer]` with the oldest entry first. In memory, None is a value
    that is not known.

    `minor`: no other process can see it; it is not shown.
    """

    kind: str
    actions: tuple[ActionView, ...]
    accesses: tuple[AccessView, ...]
    memory: tuple[int | None, ...]
    buffers: tuple[tuple[tuple[Pending, ...], ...], ...]
    registers: tuple[tuple[tuple[str, int], ...], ...]
    locations: tuple[str, ...]
    failure: str | None = None
    minor: bool = False


class Overtaking(Record):
    """The store of step `store` was still pending in step `by`; it reached memory in step `commit`, None: never."""

    process: int
    store: int
    by: int
    commit: int | None


class RunView(Record):
    """A run, ready to be stepped through. `steps[0]` is the start; `loop_start`: from that step on it repeats."""

    model: str
    processes: tuple[str, ...]
    variables: tuple[str, ...]
    shown: tuple[int, ...]
    """The variables that the run accesses."""
    buffer_names: tuple[tuple[str, ...], ...]
    """Names of the buffers of each process: none under SC, one under TSO, one per variable under PSO."""
    steps: tuple[StepView, ...]
    overtaken: tuple[Overtaking, ...] = ()
    loop_start: int | None = None
    acting: tuple[int, ...] = ()
    """The processes that get a column."""
    bookkeeping: tuple[int, ...] = ()
    """Variables that the user did not write."""
    value_names: tuple[tuple[int, str], ...] = ()
    """Numbers that are addresses: `&queue.head`."""
    how: str = ""
    """Where the run comes from, if it is not one that was replayed under `model`."""


class Mark(Record):
    """A step of the run happens on this line."""

    step: int
    process: int


class SourceLine(Record):
    """A line of the text in coloured `parts`; an `inserted` one has no number in the original."""

    parts: tuple[Part, ...]
    number: int | None
    marks: tuple[Mark, ...] = ()
    inserted: bool = False

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


class SourceView(Record):
    path: str
    lines: tuple[SourceLine, ...]


class TableView(Record):
    """A plain table, for results that are no run: criteria side by side, fences with their reasons."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


class OutcomeView(Record):
    """A final state of a litmus test, and a run to it."""

    title: str
    run: RunView


class Page(Record):
    """A report. `cycle` and `plots` are SVG drawings, `cycle_text` says the same in words."""

    title: str
    subject: str
    verdict: str
    tone: Tone
    headline: str
    facts: tuple[tuple[str, str], ...]
    why: tuple[str, ...] = ()
    run: RunView | None = None
    run_title: str = "The run"
    outcomes: tuple[OutcomeView, ...] = ()
    """Other runs to choose from."""
    sources: tuple[SourceView, ...] = ()
    cycle: str = ""
    cycle_text: tuple[str, ...] = ()
    tables: tuple[TableView, ...] = ()
    plots: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    """What the verdict does not cover, and what it takes for granted."""
    statistics: tuple[tuple[str, str], ...] = ()
