"""Fences written into the table: a new row with the fence in its thread's column, the columns kept in line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.frontend import EditKind
from memfence.frontends.herd.dialect import Dialect
from memfence.frontends.herd.layout import Layout, Row, read_layout
from memfence.program.ir import FencePoint
from memfence.source import SourceText


def insert_rows(
    source: SourceText, points: Sequence[tuple[FencePoint, EditKind]], dialect: Dialect, spelling: Mapping[str, str]
) -> str:
    """The text with one more row for every row that fences follow; fences of several threads share it.

    `spelling`: the instruction of each kind of fence; for `locked`, the one that people write instead of a store.
    """
    layout = read_layout(source, dialect)
    wanted: dict[tuple[int, EditKind], set[int]] = {}
    for point, kind in points:
        if kind == "locked":
            what = "a litmus test has no locked form of this write"
            hint = f"ask for fences, or write `{spelling[kind]}`"
            raise InputError([Diagnostic(Code.UNSUPPORTED, what, Label(point.span), hint=hint)])
        thread, row = (int(part) for part in point.key.split(":"))
        wanted.setdefault((row, kind), set()).add(thread)
    text = source.text
    for (row, kind), threads in sorted(wanted.items(), reverse=True):
        text = _insert_row(text, layout, layout.rows[row], spelling[kind], threads)
    return text


def _insert_row(text: str, layout: Layout, row: Row, instruction: str, threads: set[int]) -> str:
    word = instruction if any(cell.text[:1].isupper() for cell in row.cells) else instruction.lower()
    line_start = text.rfind("\n", 0, row.start) + 1
    line = text[line_start : row.end]
    cells = line[:-1].split("|")
    if len(cells) != len(layout.threads):  # several rows on a line, or a row over several lines
        cells = [" " * (len(word) + 2)] * len(layout.threads)
    new = "|".join(_cell(cell, word if number in threads else "") for number, cell in enumerate(cells)) + ";"
    line_end = text.find("\n", row.end)
    rest = text[row.end : line_end if line_end >= 0 else len(text)]
    if rest.strip() and not rest.strip().startswith("(*"):
        return f"{text[: row.end]}\n{new}\n{text[row.end :]}"
    at = line_end if line_end >= 0 else len(text)
    ending = "\r" if text[at - 1 : at] == "\r" else ""
    return f"{text[:at]}\n{new}{ending}{text[at:]}"


def _cell(model: str, word: str) -> str:
    """`word` in a cell as wide as `model`, starting where its text does."""
    blank = "".join(char if char == "\t" else " " for char in model)
    if not word:
        return blank
    indent = len(model) - len(model.lstrip()) if model.strip() else min(1, len(model))
    filled = blank[:indent] + word
    # A tab of the model that the word covers is lost; the columns of that row then depend on the tab width.
    return filled + blank[len(filled) :] if len(filled) < len(blank) else f"{filled} "
