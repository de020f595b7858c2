"""The user's text and places in it: every later stage points back here."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

from memfence.records import Record

BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, eq=False)
class SourceText:
    """One file as it was read. Two texts are equal only if they are the same object.

    `has_mark`: a byte order mark stood before the text; `marked` puts it back before what is written to the file.
    """

    path: str
    text: str
    has_mark: bool = field(default=False, kw_only=True)

    def marked(self, text: str) -> str:
        """`text` as the new content of the file."""
        return BYTE_ORDER_MARK + text if self.has_mark else text

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(i + 1 for i, char in enumerate(self.text) if char == "\n")]

    def line_of(self, offset: int) -> int:
        """Line number, from 1, of the character at `offset`."""
        return bisect_right(self._line_starts, offset)

    def column_of(self, offset: int) -> int:
        """Column, from 1, of the character at `offset`."""
        return offset - self._line_starts[self.line_of(offset) - 1] + 1

    def start_of_line(self, line: int) -> int:
        """Offset of the first character of line number `line`; the end of the text, where there are fewer lines."""
        starts = self._line_starts
        return starts[line - 1] if 1 <= line <= len(starts) else len(self.text)

    def line_text(self, line: int) -> str:
        """Text of line number `line`, without its end."""
        start = self._line_starts[line - 1]
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end].rstrip("\r")

    def span(self, start: int, end: int) -> Span:
        """The place from offset `start` up to, not including, `end`."""
        return Span(self, start, end)


def text_of(path: str, content: bytes) -> SourceText:
    """The text of a file, line ends and all; what is not UTF-8 becomes U+FFFD."""
    text = content.decode("utf-8", errors="replace")
    return SourceText(path, text.removeprefix(BYTE_ORDER_MARK), has_mark=text.startswith(BYTE_ORDER_MARK))


class Span(Record):
    """A place in a text: half-open, in characters. `shown`: what to call it where the text there says something else,
    such as the parameters of a macro instead of its arguments."""

    source: SourceText = field(repr=False)
    start: int
    end: int
    shown: str = field(default="", compare=False)

    @property
    def line(self) -> int:
        return self.source.line_of(self.start)

    @property
    def column(self) -> int:
        return self.source.column_of(self.start)

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def place(self) -> str:
        """`path:line`, as editors understand it."""
        return f"{self.source.path}:{self.line}"


NOWHERE = SourceText("<generated>", "").span(0, 0)
