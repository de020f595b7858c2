"""C and C++: clang compiles, we read its IR, run what is known, and lower the rest. Fences go back into the source."""

from __future__ import annotations

from memfence.frontends.c.edits import insert_fences
from memfence.frontends.c.load import load, load_texts
from memfence.program.ir import Program
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.source import SourceText


def parse(source: SourceText, options: LoadOptions = DEFAULT_OPTIONS) -> Program:
    """The program in one text."""
    return load_texts([source], options.c)


__all__ = ["insert_fences", "load", "load_texts", "parse"]
