"""Syntax errors in languages that separate statements by `;`: where it is missing, say so, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.source import SourceText


def explain_syntax_error(error: InputError, text: str, usual_mistake: Callable[[str, int], str | None]) -> InputError:
    """The error, moved to the end of the line before if only a `;` is missing there; else with a better hint.

    `text` is the source without comments. `usual_mistake(text, offset)` may know what was meant at the offset.
    """
    (found,) = error.diagnostics
    if found.code is not Code.SYNTAX:
        return error
    start = found.at.span.start
    before = text[:start].rstrip()
    if "`;`" in (found.hint or "") and "\n" in text[len(before) : start] and before:
        return InputError([_missing(found, found.at.span.source, before)])
    hint = usual_mistake(text, start)
    return InputError([replace(found, hint=hint)]) if hint is not None else error


def _missing(found: Diagnostic, source: SourceText, before: str) -> Diagnostic:
    end = len(before)
    line = before[before.rfind("\n") + 1 :].strip()
    label = Label(source.span(end - 1, end), "missing after this")
    related = (Label(found.at.span, "before this"),)
    return Diagnostic(Code.SYNTAX, f"`;` is missing after `{line}`", label, related, "write `;`")
