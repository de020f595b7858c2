"""What memfence says about an input: coded, placed, with something to type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memfence.codes import Code
from memfence.records import Record
from memfence.source import Span

MOST_SHOWN = 20
LONGEST_LINE = 160


class Label(Record):
    """A place and what to say about it."""

    span: Span
    text: str = ""


class Diagnostic(Record):
    """One finding about the input: `message` names the offending thing in backticks, `hint` is something to type."""

    code: Code
    message: str
    at: Label
    related: tuple[Label, ...] = ()
    hint: str | None = None
    severity: Literal["error", "warning"] = "error"


class InputError(Exception):
    """The input cannot be used; carries every diagnostic found, in the order of the text."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(f"{d.code.id}: {d.message}" for d in self.diagnostics))

    def __str__(self) -> str:
        """Every diagnostic with the quoted line and carets, below a line of its own where a traceback shows it."""
        return f"\n{render(self.diagnostics)}"


def did_you_mean(name: str, known: Sequence[str], otherwise: str | None = None) -> str | None:
    """A hint that proposes the closest of the `known` names, else `otherwise`."""
    from difflib import get_close_matches  # only for mistakes: importing it takes a while

    near = get_close_matches(name, known, n=1)
    return f"did you mean `{near[0]}`?" if near else otherwise


def render(diagnostics: Sequence[Diagnostic]) -> str:
    """Every diagnostic as text with the quoted line and carets; past `MOST_SHOWN` only their number."""
    shown = [_render_one(d) for d in diagnostics[:MOST_SHOWN]]
    if len(diagnostics) > MOST_SHOWN:
        shown.append(f"... and {len(diagnostics) - MOST_SHOWN} more\n")
    return "\n".join(shown)


def _render_one(d: Diagnostic) -> str:
    unread = d.code in (Code.UNREADABLE, Code.BAD_CERTIFICATE) and not d.at.span.source.text
    place = [f"  --> {d.at.span.source.path}"] if unread else _quote(d.at, "^", "-->")
    lines = [f"{d.severity}[{d.code.id}]: {_printable(d.message)}", *place]
    for label in d.related:
        lines += _quote(label, "-", ":::")
    if d.hint:
        lines.append(f"  = help: {d.hint}")
    return "\n".join(lines) + "\n"


def _quote(label: Label, mark: str, arrow: str) -> list[str]:
    span = label.span
    line, column = _window(_printable(span.source.line_text(span.line)), span.column)
    gutter = str(span.line)
    width = max(1, min(span.end - span.start, len(line) - column + 1))
    # Tabs stay tabs in the padding, so that carets line up whatever the terminal's tab width.
    padding = "".join("\t" if c == "\t" else " " for c in line[: column - 1])
    return [
        f"  {arrow} {span.source.path}:{span.line}:{span.column}",
        f"{' ' * len(gutter)} |",
        f"{gutter} | {line}",
        f"{' ' * len(gutter)} | {padding}{mark * width} {label.text}".rstrip(),
    ]


def _printable(line: str) -> str:
    """`line` with every control character but the tab replaced, so that no input can steer the terminal."""
    return "".join(c if c == "\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def _window(line: str, column: int) -> tuple[str, int]:
    """The part of a long line around `column`, and where that column is in it."""
    if len(line) <= LONGEST_LINE:
        return line, column
    start = max(0, min(column - 1 - LONGEST_LINE // 2, len(line) - LONGEST_LINE))
    part = line[start : start + LONGEST_LINE]
    left, right = "... " if start > 0 else "", " ..." if start + LONGEST_LINE < len(line) else ""
    return f"{left}{part}{right}", column - start + len(left)
