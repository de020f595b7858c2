"""From the text of a litmus test in columns to its syntax: layout first, then each part by itself."""

from __future__ import annotations

from collections.abc import Callable

from memfence.diagnostics import Diagnostic, InputError
from memfence.frontends.herd.condition import read_condition
from memfence.frontends.herd.dialect import Dialect
from memfence.frontends.herd.initial import read_initial
from memfence.frontends.herd.layout import Layout, Piece, read_layout
from memfence.frontends.herd.syntax import Condition, Instruction, Item, LabelHere, LitmusTest
from memfence.source import SourceText

CellReader = Callable[[Piece, str, list[Diagnostic]], list[Instruction | LabelHere]]
"""What a cell of the table says, given the architecture; mistakes go to the list."""


def read_table(
    source: SourceText, dialect: Dialect, read_cell: CellReader[Instruction], errors: list[Diagnostic]
) -> LitmusTest[Instruction]:
    """The test; mistakes inside its parts go to `errors`, InputError where the parts cannot be found."""
    layout = read_layout(source, dialect)
    initial = read_initial(layout.initial, len(layout.threads), dialect, errors)
    columns = _read_columns(layout, read_cell, errors)
    condition = _read_condition(layout, dialect, errors)
    names = tuple(name.span for name in layout.threads)
    return LitmusTest(layout.architecture, layout.name, names, initial, columns, condition)


def _read_columns(
    layout: Layout, read_cell: CellReader[Instruction], errors: list[Diagnostic]
) -> tuple[tuple[Item[Instruction], ...], ...]:
    """The items of each thread, the last of which has no instruction."""
    columns: list[list[Item[Instruction]]] = [[] for _ in layout.threads]
    waiting: list[list[tuple[LabelHere, int]]] = [[] for _ in layout.threads]
    for number, row in enumerate(layout.rows):
        for column, labels, cell in zip(columns, waiting, row.cells, strict=True):
            for content in read_cell(cell, layout.architecture, errors):
                if isinstance(content, LabelHere):
                    labels.append((content, number))
                else:
                    column.append(Item(tuple(labels), content, number))
                    labels.clear()
    for column, labels in zip(columns, waiting, strict=True):
        column.append(Item(tuple(labels), None, len(layout.rows)))
    return tuple(map(tuple, columns))


def _read_condition(layout: Layout, dialect: Dialect, errors: list[Diagnostic]) -> Condition | None:
    try:
        return read_condition(layout.condition, len(layout.threads), dialect)
    except InputError as error:
        errors.extend(error.diagnostics)
        return None
