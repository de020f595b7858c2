"""Fences written behind the statements of a litmus test in C."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.c.edits import FENCES, fence_after
from memfence.frontends.edits import apply_edits
from memfence.frontends.frontend import EditKind
from memfence.program.ir import FencePoint
from memfence.source import SourceText


def insert_fences(source: SourceText, points: Sequence[tuple[FencePoint, EditKind]]) -> str:
    """The text with a fence after each statement, otherwise byte for byte the same."""
    by_key: dict[str, list[str]] = {}
    for point, kind in points:
        if kind == "locked":
            what = "a litmus test has no locked form of this write"
            hint = "ask for fences, or write `atomic_exchange`"
            raise InputError([Diagnostic(Code.UNSUPPORTED, what, Label(point.span), hint=hint)])
        text = FENCES["c", kind]
        if text not in by_key.setdefault(point.key, []):
            by_key[point.key].append(text)
    edits = [edit for key, fences in by_key.items() for edit in fence_after(source.text, key, fences)]
    return apply_edits(source.text, edits)
