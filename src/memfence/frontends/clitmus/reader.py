"""The parts of a litmus test in C: header, initial state, threads, condition."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.clitmus.cursor import Cursor
from memfence.frontends.clitmus.initial import Initial, read_initial_state
from memfence.frontends.clitmus.statements import read_block
from memfence.frontends.clitmus.syntax import Parameter, ThreadText
from memfence.frontends.clitmus.tokens import tokens_of, without_comments
from memfence.frontends.clitmus.types import read_type
from memfence.frontends.herd.layout import Piece, fail, find_brace, piece, read_header, syntax_error
from memfence.frontends.parsing.syntax import Name
from memfence.records import Record
from memfence.source import SourceText

ARCHITECTURES = ("C",)
_THREAD = re.compile(r"\s*;?\s*(?:void\s+|static\s+)*(?P<name>P\d{1,6})\s*\((?P<parameters>[^(){}]*)\)\s*\{", re.ASCII)


class CTest(Record):
    """`condition`: the text that follows the threads."""

    name: str
    initial: Initial
    threads: tuple[ThreadText, ...]
    condition: Piece


def read(source: SourceText, errors: list[Diagnostic]) -> CTest:
    """The test; mistakes inside its parts go to `errors`, InputError where the parts cannot be found."""
    text = without_comments(source)
    header = read_header(source, text, ARCHITECTURES)
    opening = find_brace(text, header.end())
    if opening < 0:
        place = source.span(header.start(1), header.end())
        fail(place, "no initial state follows the header", "write `{ x=0; }`, or `{ }`")
    closing = _closing(source, text, opening)
    threads, end = _read_threads(source, text, closing + 1, errors)
    initial = read_initial_state(source, text, opening + 1, closing, len(threads), errors)
    return CTest(header["name"], initial, threads, piece(source, text, end, len(text)))


def _closing(source: SourceText, text: str, opening: int) -> int:
    """Where the brace at `opening` is closed."""
    depth, closed = 0, None
    for found in re.compile(r"[{}]").finditer(text, opening):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            closed = found.start()
            break
    if closed is None:
        fail(source.span(opening, opening + 1), "this `{` is never closed", "write `}`")
    return closed


def _read_threads(
    source: SourceText, text: str, start: int, errors: list[Diagnostic]
) -> tuple[tuple[ThreadText, ...], int]:
    threads: list[ThreadText] = []
    while found := _THREAD.match(text, start):
        name = Name(found["name"], source.span(found.start("name"), found.end("name")))
        if name.text != f"P{len(threads)}":
            what = f"`{name.text}` stands where `P{len(threads)}` is expected"
            errors.append(syntax_error(name.span, what, "threads are numbered from P0 in order"))
        closing = _closing(source, text, found.end() - 1)
        threads += _read_thread(source, text, name, found, closing, errors)
        start = closing + 1
    if not threads and not errors:
        here = piece(source, text, start, len(text))
        line = here.text.splitlines()[0] if here.text else ""
        place = source.span(here.span.start, here.span.start + max(1, len(line)))
        fail(place, "no thread follows the initial state", "write `P0 (atomic_int* x) { ... }`")
    return tuple(threads), start


def _read_thread(
    source: SourceText, text: str, name: Name, found: re.Match[str], closing: int, errors: list[Diagnostic]
) -> Iterator[ThreadText]:
    try:
        parameters = _parameters(Cursor(list(tokens_of(source, text, *found.span("parameters")))), errors)
        body = read_block(Cursor(list(tokens_of(source, text, found.end(), closing))))
    except InputError as error:
        errors.extend(error.diagnostics)
    else:
        yield ThreadText(name, parameters, body)


def _parameters(cursor: Cursor, errors: list[Diagnostic]) -> tuple[Parameter, ...]:
    found: dict[str, Parameter] = {}
    while cursor.next.kind != "end":
        if found:
            cursor.expect(",")
        declared = read_type(cursor)
        token = cursor.next
        if token.kind == "end" and not found and not declared.stars:  # P0 (void)
            break
        if token.kind != "word":
            cursor.unexpected("the name of a parameter")
        cursor.take()
        if declared.stars != 1:
            what = f"the parameter `{token.text}` is not a pointer to a shared variable"
            hint = f"write `atomic_int* {token.text}` or `int* {token.text}`"
            errors.append(Diagnostic(Code.UNSUPPORTED, what, Label(token.span), hint=hint))
        if token.text in found:
            before = Label(found[token.text].name.span, "first here")
            what = f"`{token.text}` is declared twice"
            errors.append(Diagnostic(Code.DUPLICATE, what, Label(token.span), (before,)))
        found[token.text] = Parameter(Name(token.text, token.span), declared.is_atomic)
    return tuple(found.values())
