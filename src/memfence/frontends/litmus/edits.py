"""Fences written into the table of an x86 litmus test."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.frontends.frontend import EditKind
from memfence.frontends.herd.edits import insert_rows
from memfence.frontends.litmus.instructions import DIALECT
from memfence.program.ir import FencePoint
from memfence.source import SourceText

_SPELLING = {"mfence": "MFENCE", "sfence": "SFENCE", "locked": "XCHG"}


def insert_fences(source: SourceText, points: Sequence[tuple[FencePoint, EditKind]]) -> str:
    """The text with one more row for every row that fences follow; fences of several threads share it."""
    return insert_rows(source, points, DIALECT, _SPELLING)
