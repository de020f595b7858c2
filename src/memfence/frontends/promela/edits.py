"""Fences written into the text: each on a line of its own, indented like its surroundings.

A statement that stands alone on its line gets the fence as one more line. Where the line goes on, it is broken there;
where no separator follows the statement, one is added.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.edits import Edit, apply_edits
from memfence.frontends.promela.tokens import KEYWORDS
from memfence.program.ir import FenceKind, FencePoint
from memfence.source import SourceText

_BEGINNING = re.compile(r"[^\S\n]*(?:(?:::|[A-Za-z_]\w*[^\S\n]*:(?!:))[^\S\n]*)*")
_BLANK = re.compile(r"(?:[^\S\r\n]|//[^\n\r]*|/\*[^\n]*?\*/)*")


def insert_fences(source: SourceText, points: Sequence[tuple[FencePoint, FenceKind | Literal["locked"]]]) -> str:
    """The text with a fence at each point; `locked` puts the assignment before the point into an `atomic`."""
    fences: dict[str, list[str]] = {}
    edits: list[Edit] = []
    for point, kind in dict.fromkeys(points):
        if kind == "locked":
            edits += _lock(point)
        else:
            fences.setdefault(point.key, []).append(f"{kind}();")
    edits += [_insert(source.text, key, lines) for key, lines in fences.items()]
    return apply_edits(source.text, edits)


def _lock(point: FencePoint) -> list[Edit]:
    start, end = point.span.start, point.span.end
    if not point.key.startswith("after") or KEYWORDS.get(re.split(r"\W", point.span.text)[0]) in ("TYPE", "MTYPE"):
        what = f"`{point.after}` is not a statement that could be locked"
        raise InputError([Diagnostic(Code.UNSUPPORTED, what, Label(point.span))])
    return [Edit(start, start, "atomic { "), Edit(end, end, " }")]


def _insert(text: str, key: str, lines: list[str]) -> Edit:
    """The edit that writes `lines` at the point called `key`."""
    newline = "\r\n" if "\r\n" in text else "\n"
    match key.split():
        case ["before", start]:
            return _before(text, int(start), lines, newline)
        case ["after", start, end, *separator]:
            return _after(text, int(start), int(end), "".join(separator), lines, newline)
    raise AssertionError(key)


def _before(text: str, start: int, lines: list[str], newline: str) -> Edit:
    indent = _indentation(text, start)
    line_start = text.rfind("\n", 0, start) + 1
    if not text[line_start:start].strip():
        return Edit(line_start, line_start, "".join(f"{indent}{line}{newline}" for line in lines))
    blank = len(text[:start]) - len(text[:start].rstrip(" \t"))
    fence = "".join(f"{indent}{line}{newline}" for line in lines)
    return Edit(start - blank, start, newline + fence + indent)


def _after(text: str, start: int, end: int, separator: str, lines: list[str], newline: str) -> Edit:
    indent = _indentation(text, start)
    if separator == "->":
        separator = " ->"
    fence = newline.join(indent + line for line in lines)
    blank = _BLANK.match(text, end)
    rest = blank.end() if blank else end
    if rest == len(text) or text[rest] in "\r\n":  # nothing but a comment follows on the line
        return Edit(end, rest, f"{separator}{text[end:rest]}{newline}{fence}")
    spaces = len(text[end:]) - len(text[end:].lstrip(" \t"))
    closes = re.match(r"\}|fi\b|od\b|::", text[end + spaces :])
    deeper = _indentation(text, start, own=True) if closes else indent
    return Edit(end, end + spaces, f"{separator}{newline}{fence}{newline}{deeper}")


def _indentation(text: str, start: int, *, own: bool = False) -> str:
    """White space under the first statement of the line; with `own` that of the line itself."""
    line_start = text.rfind("\n", 0, start) + 1
    beginning = _BEGINNING.match(text, line_start)
    until = min(beginning.end() if beginning else start, start)
    line_itself = text[line_start : line_start + len(text[line_start:]) - len(text[line_start:].lstrip(" \t"))]
    if own:
        return line_itself
    if "{" in text[until:start]:
        return line_itself + "    "
    return "".join("\t" if c == "\t" else " " for c in text[line_start:until])
