"""Text in aligned columns: cells wrap to the width of their column, light lines between."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.records import Record

SEPARATOR = " │ "


class Column(Record):
    """`least` is how narrow the column may become before the table counts as too wide."""

    title: str
    least: int = 8
    align_right: bool = False


def render_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> str | None:
    """The table, at most `width` wide; None where that is not possible. Nothing is cut off: long cells wrap."""
    widths = _fit(columns, rows, width)
    if widths is None:
        return None
    titles = _line([_title(c.title, w) for c, w in zip(columns, widths, strict=True)], columns, widths)
    rule = "─┼─".join("─" * w for w in widths)
    return "\n".join([*titles, rule, *(line for row in rows for line in _line(row, columns, widths))])


def _fit(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """Natural widths, the widest column narrowed first, one by one, until all fit."""
    words = [max(map(len, c.title.split())) for c in columns]
    cells = ([line for cell in column for line in cell.split("\n")] for column in zip(*rows, strict=True))
    widths = [max(word, *map(len, column)) for word, column in zip(words, cells, strict=True)]
    least = [min(w, max(c.least, word)) for c, w, word in zip(columns, widths, words, strict=True)]
    room = width - len(SEPARATOR) * (len(columns) - 1)
    while sum(widths) > room:
        slack, widest = max((w, i) for i, w in enumerate(widths) if w > least[i]) if widths != least else (0, -1)
        if not slack:
            return None
        widths[widest] -= 1
    return widths


def _title(title: str, width: int) -> str:
    return title if len(title) <= width else "\n".join(title.split())


def _line(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> list[str]:
    wrapped = [
        [line for part in cell.split("\n") for line in wrap(part, w)] for cell, w in zip(cells, widths, strict=True)
    ]
    height = max(map(len, wrapped))
    lines = []
    for i in range(height):
        parts = [lines_of[i] if i < len(lines_of) else "" for lines_of in wrapped]
        aligned = [
            part.rjust(w) if c.align_right else part.ljust(w)
            for part, c, w in zip(parts, columns, widths, strict=True)
        ]  # fmt: skip
        lines.append(SEPARATOR.join(aligned).rstrip())
    return lines


def wrap(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width`, broken at blanks where possible; continuation lines are indented by two."""
    width = max(1, width)  # nothing fits into less
    lines = [""]
    for word in text.split(" "):
        indent = "" if len(lines) == 1 else "  "
        candidate = f"{lines[-1]} {word}" if lines[-1].strip() else lines[-1] + word
        if len(candidate) <= width or not lines[-1].strip():
            lines[-1] = candidate
        else:
            lines.append("  " + word if width > 4 else word)
        while len(lines[-1]) > width:
            indent = "  " if width > 4 else ""
            at = _break_within(lines[-1], width)
            lines[-1], rest = lines[-1][:at], lines[-1][at:]
            lines.append(indent + rest)
    return lines


def _break_within(text: str, width: int) -> int:
    """Where to break a word that is too long: behind the last opening parenthesis or comma of its second half."""
    found = [n + 1 for n, character in enumerate(text[:width]) if character in "(," and n >= width // 2]
    return found[-1] if found else width
