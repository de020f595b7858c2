"""The words of a litmus test in C.

Comments are blanked out first, and offsets stay: `(* ... *)` is a comment outside the threads only, for inside them it
begins an expression; `//` and `/* */` are comments everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memfence.frontends.herd.layout import fail
from memfence.records import Record
from memfence.source import SourceText, Span

_MARK = re.compile(r'"[^"\n]*"|\(\*|\*\)|//[^\n]*|/\*.*?\*/|/\*|[{}]|\bP\d+\s*\(', re.DOTALL)
_TOKEN = re.compile(
    r"\s+|(?P<number>\d\w*)|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<op><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]])|(?P<bad>.)",
    re.DOTALL | re.ASCII,
)


class Token(Record):
    kind: str
    text: str
    span: Span


def without_comments(source: SourceText) -> str:
    """The text with every comment blanked out; line ends stay."""
    text, kept, done = source.text, list[str](), 0
    depth, opened, has_threads = 0, list[int](), False

    def blank(start: int, end: int) -> None:
        nonlocal done
        kept.append(text[done:start])
        kept.append(re.sub(r"[^\n]", " ", text[start:end]))
        done = end

    for found in _MARK.finditer(text):
        mark, is_inside = found[0], has_threads and depth > 0
        if mark == "(*" and not is_inside:
            opened.append(found.start())
        elif opened:
            if mark == "*)" and len(opened) == 1:
                blank(opened[0], found.end())
            if mark == "*)":
                opened.pop()
        elif mark.startswith(("//", "/*")):
            if mark == "/*":
                fail(source.span(found.start(), found.end()), "this comment is never closed", "end it with `*/`")
            blank(found.start(), found.end())
        elif mark in "{}":
            depth = max(0, depth + (1 if mark == "{" else -1))
        elif mark[0] == "P":
            has_threads = has_threads or depth == 0
    if opened:
        fail(source.span(opened[0], opened[0] + 2), "this comment is never closed", "end it with `*)`")
    return "".join([*kept, text[done:]])


def tokens_of(source: SourceText, text: str, start: int, end: int) -> Iterator[Token]:
    """The words of the masked `text` from `start` to `end`, then one of kind `end`."""
    for found in _TOKEN.finditer(text, start, end):
        if found.lastgroup is not None:
            yield Token(found.lastgroup, found[0], source.span(found.start(), found.end()))
    yield Token("end", "", source.span(max(0, end - 1), max(1, end)))
