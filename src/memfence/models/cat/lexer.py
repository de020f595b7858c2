"""A cat text as a list of tokens, each with its place; comments are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.records import Record
from memfence.source import SourceText, Span

TokenKind = Literal["name", "string", "symbol", "end"]

_TOKEN = re.compile(
    r"(?P<space>[\s\ufeff]+|//[^\n]*)"
    r"|(?P<comment>\(\*)"
    r'|(?P<string>"[^"\n]*")'
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_.\-]*)"
    r"|(?P<symbol>\^-1|->|\+\+|\|\||[|&\\;*+?~()\[\],=0{}])"
)


class Token(Record):
    """`text`: of a string, what stands between the quotation marks."""

    kind: TokenKind
    text: str
    span: Span


def tokens(source: SourceText) -> list[Token]:
    """All tokens, an `end` last; InputError at the first character that begins none."""
    return [*_tokens(source), Token("end", "", _end(source))]


def _tokens(source: SourceText) -> Iterator[Token]:
    at = 0
    while at < len(source.text):
        found = _TOKEN.match(source.text, at)
        if found is None:
            raise _refusal(source.span(at, at + 1), f"unexpected character `{source.text[at]}`", "not expected here")
        span = source.span(*found.span())
        at = _end_of_comment(source, at) if found.lastgroup == "comment" else found.end()
        match found.lastgroup:
            case "string":
                yield Token("string", found.group()[1:-1], span)
            case "name":
                yield Token("name", found.group(), span)
            case "symbol":
                yield Token("symbol", found.group(), span)


def _end_of_comment(source: SourceText, start: int) -> int:
    """Where the comment that begins at `start` is over; comments may contain comments."""
    depth = 0
    for mark in re.finditer(r"\(\*|\*\)", source.text[start:]):
        depth += 1 if mark.group() == "(*" else -1
        if depth == 0:
            return start + mark.end()
    raise _refusal(source.span(start, start + 2), "a comment is never closed", "begins here")


def _refusal(span: Span, message: str, label: str) -> InputError:
    return InputError([Diagnostic(Code.SYNTAX, message, Label(span, label))])


def _end(source: SourceText) -> Span:
    """The last character of the text, for what is missing there."""
    length = len(source.text.rstrip())
    return source.span(max(0, length - 1), length)
