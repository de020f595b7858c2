"""The user's files: texts, and spans of the statements that debug information points to."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from memfence.frontends.c.editable import is_cpp, is_editable
from memfence.frontends.c.llvm.metadata import Place
from memfence.frontends.c.statements import Statement, Statements
from memfence.frontends.endings import is_from_llvm
from memfence.reading import read_bytes
from memfence.source import NOWHERE, SourceText, Span, text_of

LONGEST = 200


class Sources:
    """Every file that places point into, read once; `given` are the texts that the user named, and `instead` those that
    stand in place of files."""

    def __init__(self, given: tuple[SourceText, ...], instead: tuple[SourceText, ...] = ()) -> None:
        self._texts: dict[str, SourceText] = {_absolute(text.path): text for text in (*instead, *given)}
        self._given = tuple(text.path for text in given)
        self._statements: dict[str, Statements] = {}

    def text(self, path: str) -> SourceText | None:
        key = _absolute(path)
        if key not in self._texts:
            try:
                content = read_bytes(Path(key))
            except (OSError, ValueError):
                return None
            self._texts[key] = text_of(self._shown(key), content)
        return self._texts[key]

    def _shown(self, path: str) -> str:
        """The path of another file: relative where the user's own are and that is shorter."""
        near = os.path.relpath(path)
        return near if len(near) < len(path) and not Path(self.first).is_absolute() else path

    @property
    def first(self) -> str:
        """The path of the first file that the user named."""
        return self._given[0] if self._given else ""

    def statement(self, place: Place | None) -> tuple[SourceText, Statement] | None:
        """The simple statement at the place, in a text that may be changed."""
        source = None if place is None or not place.column else self.text(place.path)
        if source is None or place is None or not is_editable(source, self._given):
            return None
        found = self._statements_of(source).at(place.line, place.column)
        return None if found is None else (source, found)

    def statement_before(self, place: Place | None) -> tuple[SourceText, Statement] | None:
        """The statement before which a fence can stand that is one before what is at the place."""
        source = None if place is None or not place.column else self.text(place.path)
        if source is None or place is None or not is_editable(source, self._given):
            return None
        found = self._statements_of(source).before(place.line, place.column)
        return None if found is None else (source, found)

    def _is_code(self, source: SourceText) -> bool:
        return not is_from_llvm(source.path)

    def _statements_of(self, source: SourceText) -> Statements:
        if source.path not in self._statements:
            self._statements[source.path] = Statements(source, is_cpp(source, self.first))
        return self._statements[source.path]

    def span(self, place: Place | None) -> Span:
        """The expression at the place; where that cannot be told, the rest of what stands there on its line."""
        source = None if place is None else self.text(place.path)
        if source is None or place is None:
            return NOWHERE
        if place.column and self._is_code(source):
            found = self._statements_of(source).expression_at(place.line, place.column)
            if found is not None and found[1] - found[0] <= LONGEST:
                return source.span(*found)
        start = source.start_of_line(place.line)
        if start >= len(source.text):
            return NOWHERE
        line = source.line_text(place.line)
        indent = place.column - 1 if place.column else len(line) - len(line.lstrip())
        return source.span(start + indent, start + indent + min(len(_first_part(line[indent:])), LONGEST))


def _first_part(text: str) -> str:
    """Up to the end of the statement or expression, with balanced parentheses."""
    depth = 0
    for position, char in enumerate(text):
        depth += char in "([{"
        depth -= char in ")]}"
        if depth < 0 or (depth == 0 and char in ";"):
            return text[:position]
        if depth == 0 and char == ")":
            return text[: position + 1]
    return text.rstrip()


def _absolute(path: str) -> str:
    is_absolute = path.startswith("/")
    return _real(path if is_absolute else str(Path.cwd() / path))  # elsewhere a relative path means another file


@lru_cache(1024)
def _real(path: str) -> str:
    return os.path.realpath(path)
