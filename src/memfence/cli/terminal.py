"""What the terminal can do: its width, and colours where it shows them."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

from memfence.cli.progress import close_progress

_COLOURS = {
    "HOLDS": "32", "FIXED": "32", "NO VIOLATION": "33", "UNKNOWN": "33", "VIOLATED": "31", "NOT FIXABLE": "31",
    "error": "31", "warning": "33",
}  # fmt: skip
_VERDICT = re.compile(r"(?<=: )(HOLDS|FIXED|NO VIOLATION|UNKNOWN|VIOLATED|NOT FIXABLE)\b")
_SEVERITY = re.compile(r"^(error|warning)(?=\[)", re.MULTILINE)
_CHANGED = re.compile(r"\*[^\s=│]+=-?\d+")
_DIFF = re.compile(r"^--- .*\n\+\+\+ .*\n(?:[@ +\-\\].*(?:\n|\Z))*", re.MULTILINE)


COLOUR = "auto"
"""What `--color` says: `always`, `never`, or by what the stream shows."""
DEFAULT_WIDTH = 100
LEAST_WIDTH = 20
"""Below this a terminal has no size rather than a small one: 0 where nobody has set it. Nothing is readable there."""


def width() -> int:
    """Characters per line: `COLUMNS`, else the terminal's, else 100; never fewer than can be written into."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(LEAST_WIDTH, int(columns))
    try:
        found = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return DEFAULT_WIDTH
    return found if found >= LEAST_WIDTH else DEFAULT_WIDTH


def shows_colours(stream: TextIO) -> bool:
    """A terminal, unless `NO_COLOR` is set (no-color.org); what was asked for counts first."""
    if COLOUR != "auto":
        return COLOUR == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def coloured(text: str) -> str:
    """`text` with its verdict, severities, changed values and the lines of patches marked."""
    first, newline, rest = text.partition("\n")
    first = _VERDICT.sub(lambda m: _paint(m[0], f"1;{_COLOURS[m[0]]}"), first, count=1)
    rest = _DIFF.sub(lambda m: _painted_diff(m[0]), _CHANGED.sub(lambda m: _paint(m[0], "1"), rest))
    return _SEVERITY.sub(lambda m: _paint(m[0], f"1;{_COLOURS[m[0]]}"), f"{first}{newline}{rest}")


def _painted_diff(text: str) -> str:
    """Removed lines in red, added ones in green, as diff tools have it."""
    styles = {"---": "1", "+++": "1", "@": "36", "-": "31", "+": "32"}
    found = ((line, next((s for mark, s in styles.items() if line.startswith(mark)), "")) for line in text.split("\n"))
    return "\n".join(_paint(line, style) if style else line for line, style in found)


def _paint(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


def write(text: str, stream: TextIO | None = None) -> None:
    """Print `text` as it is, in colour where the stream shows it."""
    close_progress()
    stream = stream or sys.stdout
    stream.write(coloured(text) if shows_colours(stream) else text)
    stream.flush()
