"""Colours of the source pane: which parts of a line are comments, strings, numbers or words of the language.

One rough reading serves every language, since nothing but colours depends on it: the catalogue says what its comments
and words look like. A comment may go on over lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memfence.frontends.catalogue import C_COMMENTS, C_WORDS, choose_language
from memfence.records import Record


class Part(Record):
    """A piece of a line; `kind` is empty for what has no colour."""

    text: str
    kind: str = ""


def coloured(path: str, lines: Sequence[str]) -> list[tuple[Part, ...]]:
    """The parts of each line; put together they are the line."""
    rows: list[list[Part]] = [[]]
    for part in _parts(path, "\n".join(lines)):
        first, *others = part.text.split("\n")
        rows[-1].append(Part(first, part.kind))
        rows += [[Part(text, part.kind)] for text in others]
    return [tuple(part for part in row if part.text) for row in rows][: len(lines)]


def _parts(path: str, text: str) -> Iterator[Part]:
    language = choose_language(path, text)
    comment, coloured_words = (language.comments, language.words) if language else (C_COMMENTS, C_WORDS)
    words = set(coloured_words.split())
    tokens = re.compile(
        rf"(?P<comment>{comment})|(?P<string>\"(?:\\.|[^\"\\\n])*\"?)|(?P<directive>(?m:^)[ \t]*#[ \t]*\w+)"
        r"|(?P<number>\b(?:0[xX][0-9a-fA-F]+|\d+)\b)|(?P<word>[A-Za-z_]\w*)",
        re.DOTALL,
    )
    at = 0
    for found in tokens.finditer(text):
        yield Part(text[at : found.start()])
        is_plain = found.lastgroup == "word" and found[0] not in words
        yield Part(found[0], "" if is_plain else found.lastgroup or "")
        at = found.end()
    yield Part(text[at:])
