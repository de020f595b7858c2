"""C and C++: clang compiles, we read its IR, run what is known, and lower the rest. Fences go back into the source."""

from __future__ import annotations

from memfence.frontends.c.edits import insert_fences
from memfence.frontends.c.load import load, load_texts
from memfence.frontends.c.options import LoadOptions
from memfence.program.ir import Program
from memfence.source import SourceText


def parse(source: SourceText) -> Program:
    """The program in one text, read with the default options."""
    return load_texts([source])


__all__ = ["LoadOptions", "insert_fences", "load", "load_texts", "parse"]
