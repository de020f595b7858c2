"""Colours of the source pane: which parts of a line are comments, strings, numbers or words of the language.

One rough reading serves every language, since nothing but colours depends on it: what a comment looks like is told by
the ending of the file, and a comment may go on over lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from memfence.records import Record

_WORDS = re.compile(
    r"active|assert|atomic|auto|bit|bool|break|byte|case|char|const|continue|d_step|default|do|double|else|enum|extern"
    r"|fi|float|for|goto|if|in|init|inline|int|local|long|ltl|mtype|od|pid|proctype|register|return|run|select|short"
    r"|signed|sizeof|skip|static|struct|switch|timeout|true|false|typedef|union|unsigned|void|volatile|while|NULL"
    r"|fence|ssfence|llfence|mfence|sfence|lfence|lock|unlock|locked|write|read|cas|nop|forbidden|data|process"
    r"|registers|text|macro|endmacro|either|or|when|exists|forall|locations|thread|initial|transition|check|end"
    r"|memory_size|trans|state|commit|sync|guard|effect|system|async|accepting|channel"
)
_STARTS = {
    ".txt": r"#[^\n]*", ".rmm": r"//[^\n]*|/\*.*?(?:\*/|\Z)|--[^\n]*", ".litmus": r"\(\*.*?(?:\*\)|\Z)|\"[^\"\n]*\"?",
}  # fmt: skip
_C_COMMENT = r"//[^\n]*|/\*.*?(?:\*/|\Z)"


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
    comment = _STARTS.get(PurePath(path).suffix.lower(), _C_COMMENT)
    tokens = re.compile(
        rf"(?P<comment>{comment})|(?P<string>\"(?:\\.|[^\"\\\n])*\"?)|(?P<directive>(?m:^)[ \t]*#[ \t]*\w+)"
        r"|(?P<number>\b(?:0[xX][0-9a-fA-F]+|\d+)\b)|(?P<word>[A-Za-z_]\w*)",
        re.DOTALL,
    )
    at = 0
    for found in tokens.finditer(text):
        yield Part(text[at : found.start()])
        is_plain = found.lastgroup == "word" and not _WORDS.fullmatch(found[0])
        yield Part(found[0], "" if is_plain else found.lastgroup or "")
        at = found.end()
    yield Part(text[at:])
