"""From C files to a program: compile, read, specialise, assemble."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.c.clang import compile_files
from memfence.frontends.c.llvm.link import Linked
from memfence.frontends.c.llvm.reader import read_module
from memfence.frontends.c.lowering.assemble import assemble
from memfence.frontends.c.lowering.sources import Sources
from memfence.frontends.c.machine.refusal import Refused
from memfence.frontends.c.machine.specialise import specialise
from memfence.frontends.c.options import LoadOptions
from memfence.program.ir import Program
from memfence.source import SourceText

DEFAULT = LoadOptions()


def load(paths: Sequence[str | Path], options: LoadOptions = DEFAULT) -> Program:
    """The program in these files together. InputError with a place wherever something is not supported."""
    texts = tuple(SourceText(str(p), Path(p).read_text(encoding="utf-8", errors="replace")) for p in paths)
    sources = Sources(texts)
    modules = [read_module(text, str(path)) for path, text in compile_files(paths, options)]
    linked = Linked(modules)
    try:
        found = specialise(linked, options)
        return assemble(found, sources, texts[0])
    except Refused as refused:
        raise InputError([_diagnostic(refused, sources, texts[0])]) from None


def _diagnostic(refused: Refused, sources: Sources, source: SourceText) -> Diagnostic:
    span = sources.span(refused.place) if refused.place else source.span(0, 0)
    return Diagnostic(refused.code, refused.message, Label(span, refused.label), hint=refused.hint)


