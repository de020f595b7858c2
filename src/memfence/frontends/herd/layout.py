"""The parts of a litmus test: header, initial state, one column of instructions a thread, condition.

Nothing is understood here but the layout: comments, braces, `|` between columns and `;` at the end of rows.
"""

from __future__ import annotations

import re
from typing import NoReturn

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.herd.dialect import Dialect
from memfence.records import Record
from memfence.source import SourceText, Span

_QUOTED_OR_COMMENT = re.compile(r'"[^"\n]*"|\(\*|\*\)')
_HEADER = re.compile(r"\s*(?P<architecture>\S+)[^\S\n]+(?P<name>[^\s({\"]+)")
_CONDITION = re.compile(r"(?:locations|~?\s*exists|forall|final|filter)\b|<<|~")
_CONDITION_LINE = re.compile(r"^[^\S\n]*(?:locations|~?[^\S\n]*exists|forall|final|filter)\b", re.MULTILINE)
_BLANKS = re.compile(r"\s*")
_BLANKS_AND_SEMICOLON = re.compile(r"\s*;?")
_THREAD = re.compile(r"P(\d+)\Z")


class Piece(Record):
    """A stretch of the text without the blanks around it. Comments in it are blanks: offsets are those of the file."""

    text: str
    span: Span


class Row(Record):
    """One row of the table: a cell a thread, some of them empty. `end` is the offset after its `;`."""

    cells: tuple[Piece, ...]
    start: int
    end: int


class Layout(Record):
    architecture: str
    name: str
    initial: tuple[Piece, ...]
    threads: tuple[Piece, ...]
    rows: tuple[Row, ...]
    condition: Piece


def read_layout(source: SourceText, dialect: Dialect) -> Layout:
    """Split a litmus test into its parts; InputError where they cannot be found."""
    text = mask_comments(source)
    header = read_header(source, text, dialect.architectures)
    opening = find_brace(text, header.end())
    if opening < 0:
        place = source.span(header.start(1), header.end())
        fail(place, "no initial state follows the header", "write `{ x=0; }`, or `{ }`")
    closing = text.find("}", opening)
    if closing < 0:
        fail(source.span(opening, opening + 1), "this `{` is never closed", "end the initial state with `}`")
    initial = _split(source, text, opening + 1, closing, ";")
    start = _end_of(_BLANKS_AND_SEMICOLON, text, closing + 1)
    threads, start = _read_threads(source, text, start)
    rows, start = _read_rows(source, text, start, len(threads))
    return Layout(
        header["architecture"], header["name"], tuple(i for i in initial if i.text), threads, rows,
        piece(source, text, start, len(text)),
    )  # fmt: skip


def read_header(source: SourceText, text: str, architectures: tuple[str, ...]) -> re.Match[str]:
    """The `architecture` and the `name` of the test, as groups of a match."""
    header = _HEADER.match(text)
    if header is None or header["architecture"] not in architectures:
        word = re.match(r"\s*(\S*)", text)
        assert word is not None
        nothing = "the text does not begin with an architecture"
        what = f"litmus tests of `{word[1]}` are not read here" if word[1] else nothing
        hint = "begin with " + " or ".join(f"`{name} NAME`" for name in dict.fromkeys((*architectures, "AArch64", "C")))
        fail(source.span(word.start(1), word.end(1) or 1), what, hint)
    return header


def fail(span: Span, message: str, hint: str | None = None) -> NoReturn:
    """Stop reading with a syntax error."""
    raise InputError([syntax_error(span, message, hint)])


def syntax_error(span: Span, message: str, hint: str | None = None) -> Diagnostic:
    return Diagnostic(Code.SYNTAX, message, Label(span), hint=hint)


def mask_comments(source: SourceText) -> str:
    """The text with every comment `(* ... *)` blanked out, nested ones included; line ends stay."""
    text = source.text
    kept: list[str] = []
    opened: list[int] = []
    done = 0
    for found in _QUOTED_OR_COMMENT.finditer(text):
        if found[0] == "(*":
            if not opened:
                kept.append(text[done : found.start()])
                done = found.start()
            opened.append(found.start())
        elif found[0] == "*)" and opened:
            opened.pop()
            if not opened:
                kept.append(re.sub(r"[^\n]", " ", text[done : found.end()]))
                done = found.end()
        elif opened and "*)" in found[0]:  # a lone quote inside a comment does not hide its end
            end = found.start() + found[0].index("*)") + 2
            opened.pop()
            if not opened:
                kept.append(re.sub(r"[^\n]", " ", text[done:end]))
                done = end
    if opened:
        fail(source.span(opened[0], opened[0] + 2), "this comment is never closed", "end it with `*)`")
    return "".join([*kept, text[done:]])


def piece(source: SourceText, text: str, start: int, end: int) -> Piece:
    """The stretch from `start` to `end` of the masked `text`, trimmed."""
    stretch = text[start:end]
    trimmed = stretch.strip()
    begin = start + len(stretch) - len(stretch.lstrip()) if trimmed else start
    return Piece(trimmed, source.span(begin, begin + len(trimmed)))


def _split(source: SourceText, text: str, start: int, end: int, separator: str) -> list[Piece]:
    pieces = []
    for part in text[start:end].split(separator):
        pieces.append(piece(source, text, start, start + len(part)))
        start += len(part) + 1
    return pieces


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found is not None else start


def find_brace(text: str, start: int) -> int:
    """The first `{` outside quotes."""
    found = (f.start() for f in re.compile(r'"[^"\n]*"|\{').finditer(text, start) if f[0] == "{")
    return next(found, -1)


def _read_threads(source: SourceText, text: str, start: int) -> tuple[tuple[Piece, ...], int]:
    end = text.find(";", start)
    here = piece(source, text, start, end if end >= 0 else len(text))
    if end < 0 or not here.text:
        place = here.span if here.text else source.span(max(0, start - 1), max(1, start))
        fail(place, "a row with the names of the threads is missing", "write ` P0 | P1 ;` after the initial state")
    threads = tuple(_split(source, text, start, end, "|"))
    errors = []
    for number, thread in enumerate(threads):
        if thread.text != f"P{number}":
            known = _THREAD.match(thread.text)
            what = "threads are numbered from P0 in order" if known else "a thread is called `P` and its number"
            span = thread.span if thread.text else source.span(thread.span.start, thread.span.start + 1)
            shown = thread.text.splitlines()[0] if thread.text else ""
            errors.append(syntax_error(span, f"`{shown}` stands where `P{number}` is expected", what))
    if errors:
        raise InputError(errors[:1] if len(threads) == 1 else errors)
    return threads, end + 1


def _read_rows(source: SourceText, text: str, start: int, width: int) -> tuple[tuple[Row, ...], int]:
    rows: list[Row] = []
    errors: list[Diagnostic] = []
    while True:
        start = _end_of(_BLANKS, text, start)
        if start >= len(text) or _CONDITION.match(text, start):
            break
        end = text.find(";", start)
        inside = _CONDITION_LINE.search(text, start, end if end >= 0 else len(text))
        if end < 0 or inside:
            here = piece(source, text, start, inside.start() if inside else len(text))
            fail(_last_line(here), "this row of the table does not end with `;`", "end every row with `;`")
        cells = tuple(_split(source, text, start, end, "|"))
        if len(cells) != width:
            what = f"this row has {len(cells)} column{'' if len(cells) == 1 else 's'}, the table has {width}"
            row = piece(source, text, start, end)
            errors.append(syntax_error(row.span, what, "write `|` between the threads, also where a cell is empty"))
        rows.append(Row(cells, start, end + 1))
        start = end + 1
    if errors:
        raise InputError(errors)
    return tuple(rows), start


def _last_line(here: Piece) -> Span:
    """The last line of a piece: where the mistake usually is."""
    last = here.text.rfind("\n") + 1
    blanks = len(here.text[last:]) - len(here.text[last:].lstrip())
    return here.span.source.span(here.span.start + last + blanks, max(here.span.end, here.span.start + 1))
