"""Fences written into a Remmex program, one line each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.edits import Edit, apply_edits, newline_of, on_next_line, placed
from memfence.frontends.frontend import EditKind
from memfence.frontends.remmex.reader import mask_comments
from memfence.program.ir import FencePoint
from memfence.source import SourceText

_SEPARATOR = re.compile(r"\s*(;|->)")
_LOCK_WORD = re.compile(r"(LOCK|UNLOCK)\b")


def insert_fences(source: SourceText, points: Sequence[tuple[FencePoint, EditKind]]) -> str:
    """The text with a fence at each point or its store locked, otherwise byte for byte the same."""
    masked = mask_comments(source.text)
    newline = newline_of(source.text)
    edits: list[Edit] = []
    for point, kind, how, start, end in placed(points):
        if kind == "locked":
            edits += _lock(point, masked, how, start, end)
        elif how == "after":
            edits.append(_after(masked, start, end, kind, newline))
        else:
            edits.append(Edit(start, start, f"{kind};{newline}{_indent(source.text, start)}"))
    return apply_edits(source.text, edits)


def _lock(point: FencePoint, masked: str, how: str, start: int, end: int) -> list[Edit]:
    if how != "after" or not masked.startswith("store", start):
        what = f"`{point.after}` is not a store that could be locked"
        raise InputError([Diagnostic(Code.UNSUPPORTED, what, Label(point.span))])
    return [Edit(start, start, "LOCK "), Edit(end, end, "; UNLOCK")]


def _after(masked: str, start: int, end: int, word: str, newline: str) -> Edit:
    """A new line after the statement and its separator; on the same line where more follows there."""
    separator = _SEPARATOR.match(masked, end)
    if separator is not None:
        end = separator.end()
    elif not _LOCK_WORD.match(masked, start):
        return Edit(end, end, f"; {word};")
    return on_next_line(masked, end, word, newline + _indent(masked, start))


def _indent(text: str, offset: int) -> str:
    """Blanks as wide as what stands before `offset` on its line; tabs stay tabs."""
    return re.sub(r"[^\t]", " ", text[text.rfind("\n", 0, offset) + 1 : offset])
