"""Fences written into an RMM program, one line each; a locked write is the write with a word before it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.edits import Edit, apply_edits, newline_of, on_next_line, placed
from memfence.frontends.frontend import EditKind
from memfence.frontends.rmm.macros import mask_comments
from memfence.program.ir import FencePoint
from memfence.source import SourceText

_WORD = {"mfence": "fence", "sfence": "sfence"}


def insert_fences(source: SourceText, points: Sequence[tuple[FencePoint, EditKind]]) -> str:
    """The text with a fence at each point or the write before it locked, otherwise byte for byte the same."""
    masked = mask_comments(source)
    newline = newline_of(source.text)
    edits: list[Edit] = []
    for point, kind, how, start, end in placed(points):
        if kind == "locked":
            edits.append(_lock(point, masked, how, start))
        elif how == "after":
            edits.append(_after(masked, start, end, _WORD[kind], newline))
        elif how == "before":
            edits.append(Edit(start, start, f"{_WORD[kind]};{newline}{' ' * _column(source.text, start)}"))
        else:
            edits += [Edit(start, start, "{ "), Edit(end, end, f"; {_WORD[kind]} }}")]
    return apply_edits(source.text, edits)


def _lock(point: FencePoint, masked: str, how: str, start: int) -> Edit:
    if how not in ("after", "wrap") or not masked.startswith("write", start):
        what = f"`{point.after}` is not a write that could be locked"
        raise InputError([Diagnostic(Code.UNSUPPORTED, what, Label(point.span))])
    return Edit(start, start, "locked ")


def _after(masked: str, start: int, end: int, word: str, newline: str) -> Edit:
    """A new line after the statement, below its `;` if it has one."""
    indent = " " * _column(masked, start)
    separator = re.compile(r"\s*;").match(masked, end)
    if separator is None:
        return Edit(end, end, f";{newline}{indent}{word}")
    return on_next_line(masked, separator.end(), word, newline + indent)


def _column(text: str, offset: int) -> int:
    """How many characters stand before `offset` on its line, a tab counting as one."""
    return offset - text.rfind("\n", 0, offset) - 1
