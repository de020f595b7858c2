"""Syntax errors of languages that write one statement a line: several in one go, and placed where the mistake is.

A parser stops at the first token that cannot follow. Where that token opens the next line, the mistake is rather in the
statement before, which is not complete. And once a statement is found wrong, the rest of the text can still be read
without it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import cast

from memfence.codes import Code
from memfence.diagnostics import MOST_SHOWN, Diagnostic, InputError, Label, did_you_mean
from memfence.frontends.parsing.grammar import Grammar, parse_text, syntax_error
from memfence.frontends.parsing.nodes import Tree
from memfence.records import Record
from memfence.source import SourceText, Span

LONGEST_RECOVERED = 50_000
"""In a longer text only the first mistake is shown, as the parser tells it: more would cost many parses."""


class LineStyle(Record):
    """`statement`: how a line starts that may be left out and the others still make sense.

    `after_statement`: a terminal that the grammar allows after every complete statement.
    `hints`: what to say where this text, a usual mistake, is not expected.
    """

    statement: re.Pattern[str]
    comment: re.Pattern[str]
    after_statement: str
    hints: Mapping[str, str] = field(default_factory=dict)


def parse_lines(grammar: Grammar, source: SourceText, readable: dict[str, str], style: LineStyle) -> Tree:
    """The parse tree of `source`; InputError with the first mistake of every wrong statement."""
    if len(source.text) > LONGEST_RECOVERED:
        return parse_text(grammar, source, readable)
    found: list[Diagnostic] = []
    text = source.text
    while True:
        try:
            tree = parse_text(grammar, SourceText(source.path, text), readable)
        except InputError as error:
            diagnostic = _placed(error, source, text, style, grammar, readable)
            at = diagnostic.at.span
            if not found or found[-1].at.span.start < at.start:
                found.append(diagnostic)
            line = _line_bounds(text, at.start)
            done = at.end >= len(text.rstrip()) or len(found) > MOST_SHOWN
            if done or not style.statement.match(text[slice(*line)]):
                raise InputError(found) from None
            text = text[: line[0]] + " " * (line[1] - line[0]) + text[line[1] :]
        else:
            if found:
                raise InputError(found)
            return tree


def _placed(
    error: InputError, source: SourceText, text: str, style: LineStyle, grammar: Grammar, readable: dict[str, str]
) -> Diagnostic:
    """The finding in terms of `source`, moved to the end of the statement before if that one is not complete."""
    (found,) = error.diagnostics
    at = found.at.span
    first, _ = _line_bounds(text, at.start)
    if found.code is Code.SYNTAX and not text[first : at.start].strip() and at.start < len(text.rstrip()):
        before = _last_statement(text[:first], style)
        expected = _expected_after(grammar, text[:first])
        if before is not None and expected and style.after_statement not in expected:
            message = f"`{' '.join(text[slice(*before)].split())}` is not complete"
            end = before[1]
            (moved,) = syntax_error(source, end - 1, 1, message, expected, readable).diagnostics
            return replace(moved, at=replace(moved.at, text="something is missing after this"))
    here = source.span(at.start, at.end)
    if _expected_after(grammar, text):
        return replace(found, at=Label(here, "the text ends here"))
    expected = _expected_after(grammar, text[: here.start])
    (listing,) = syntax_error(source, here.start, 1, found.message, expected, readable).diagnostics
    hint = _usual_mistake(grammar, text, here, style, readable) or found.hint or listing.hint
    return replace(found, at=Label(here, found.at.text), hint=hint)


def _usual_mistake(grammar: Grammar, text: str, here: Span, style: LineStyle, readable: dict[str, str]) -> str | None:
    """A hint about what is not expected, or about the word before it, which may be what is really wrong."""
    before = re.search(r"\w+(?=\s*\Z)", text[: here.start])
    places = [(here.start, here.text), *([(before.start(), before[0])] if before else [])]
    pairs = [text[here.start - 1 : here.start + 1], text[here.start : here.start + 2]]
    for word in (*pairs, *(word for _, word in places)):
        if word in style.hints:
            return style.hints[word]
    every_keyword = {terminal.name.lower() for terminal in grammar.lark.terminals}
    for start, word in places:
        expected = sorted(name.lower() for name in _expected_after(grammar, text[:start]) - readable.keys())
        near = None if word in every_keyword else did_you_mean(word.lower(), expected)
        if near is not None:
            return near
    return None


def _expected_after(grammar: Grammar, text: str) -> set[str]:
    """The terminals that may follow `text`; empty if it is wrong itself."""
    from lark.exceptions import UnexpectedInput

    parser = grammar.lark.parse_interactive(text)
    try:
        parser.exhaust_lexer()
    except UnexpectedInput:
        return set()
    return cast("set[str]", parser.accepts())  # type: ignore[no-untyped-call]


def _last_statement(text: str, style: LineStyle) -> tuple[int, int] | None:
    """Where the last line with something other than a comment starts and ends, if it is a statement."""
    end = len(text)
    while end > 0:
        start, _ = _line_bounds(text, end - 1)
        code = style.comment.sub("", text[start:end]).rstrip()
        if code.strip():
            indent = len(code) - len(code.lstrip())
            return (start + indent, start + len(code)) if style.statement.match(code) else None
        end = start
    return None


def _line_bounds(text: str, offset: int) -> tuple[int, int]:
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    return start, len(text) if end < 0 else end
