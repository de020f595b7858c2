"""What the package of each language provides: its text to a program, and fences back into its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from memfence.program.ir import FenceKind, FencePoint, Program
from memfence.program.load_options import LoadOptions
from memfence.source import SourceText

EditKind = FenceKind | Literal["locked"]
EditStyle = Literal["fence", "store", "asm"]
"""How C writes an edit: as a fence of the language, as a stronger store where that is possible, or as assembly."""


class Frontend(Protocol):
    """What the module of a language provides."""

    def parse(self, source: SourceText, options: LoadOptions = ...) -> Program:
        """The program, with its `options` and `warnings`; InputError with every mistake found.

        May contain lock regions and undeclared ranges. A language honours those options that mean something in it.
        """

    def insert_fences(self, source: SourceText, points: Sequence[tuple[FencePoint, EditKind]]) -> str:
        """The text with a fence written at each point (or its write locked), otherwise byte for byte the same."""
