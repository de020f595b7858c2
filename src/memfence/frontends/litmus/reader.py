"""From the text of a litmus test to its syntax: layout first, then each part by itself."""

from __future__ import annotations

from memfence.diagnostics import Diagnostic, InputError
from memfence.frontends.litmus.condition import read_condition
from memfence.frontends.litmus.initial import read_initial
from memfence.frontends.litmus.instructions import read_cell
from memfence.frontends.litmus.layout import Layout, read_layout
from memfence.frontends.litmus.syntax import Condition, Item, LabelHere, LitmusTest
from memfence.source import SourceText


def read(source: SourceText, errors: list[Diagnostic]) -> LitmusTest:
    """The test; mistakes inside its parts go to `errors`, InputError where the parts cannot be found."""
    layout = read_layout(source)
    initial = read_initial(layout.initial, len(layout.threads), errors)
    columns = _read_columns(layout, errors)
    condition = _read_condition(layout, errors)
    names = tuple(name.span for name in layout.threads)
    return LitmusTest(layout.architecture, layout.name, names, initial, columns, condition)


def _read_columns(layout: Layout, errors: list[Diagnostic]) -> tuple[tuple[Item, ...], ...]:
    """The items of each thread, the last of which has no instruction."""
    columns: list[list[Item]] = [[] for _ in layout.threads]
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


def _read_condition(layout: Layout, errors: list[Diagnostic]) -> Condition | None:
    try:
        return read_condition(layout.condition, len(layout.threads))
    except InputError as error:
        errors.extend(error.diagnostics)
        return None
