"""Tables that are compared with published ones, as Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

from memfence.records import Record

Cells = tuple[str, ...]
Row = Callable[[], Cells]
"""Measures one row; it can be sent to another machine, which has the same files at the same places."""


class Sources(Record):
    """Where the models are: our own, and the benchmark corpus of other tools, if any; and a limit for each command."""

    examples: Path
    corpus: Path | None
    timeout_seconds: float


def shipped_examples() -> Path:
    """The folder `examples`: where the command is run, else beside these sources."""
    places = (Path("examples"), Path(__file__).resolve().parents[2] / "examples")
    return next((place for place in places if (place / "linden_wolper").is_dir()), places[0])


class Table(Record):
    """A table of a paper, whose `rows` are still to be measured.

    `models`: where its programs come from. `elsewhere`: rows whose programs do not come with memfence: they need a
    corpus, and the file that each is there.
    """

    name: str
    title: str
    about: str
    models: str
    columns: Cells
    rows: Callable[[Sources], Iterator[Row]]
    elsewhere: tuple[tuple[str, str], ...] = ()

    def introduction(self, sources: Sources) -> str:
        """What the columns mean, where the models come from, and which rows are missing without a corpus."""
        others = ", ".join(f"{row} (`{file}`)" for row, file in self.elsewhere)
        said = "need the files of others" if sources.corpus else "are not measured, since no corpus is given"
        missing = f" Rows that {said}: {others}." if others else ""
        return f"{self.about}\n\nModels: {self.models}{missing}\n\n"


def markdown_head(columns: Cells) -> str:
    """The first two lines of a table."""
    return f"{markdown_row(columns)}\n{markdown_row(tuple('---' for _ in columns))}\n"


def markdown_row(cells: Cells) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def csv_text(columns: Cells, rows: list[Cells]) -> str:
    """RFC 4180, with a head line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def number(value: float | None, digits: int = 0) -> str:
    """A number without grouping, so that CSV readers take it for one; a dash for none."""
    return "-" if value is None else f"{value:.{digits}f}"
