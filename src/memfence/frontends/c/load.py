"""From C files to a program: compile, read, specialise, assemble."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.c.clang import compile_text, disassemble
from memfence.frontends.c.hints import hint_for
from memfence.frontends.c.library_code import files_called, options_for
from memfence.frontends.c.llvm.instructions import Module
from memfence.frontends.c.llvm.link import Linked, Symbol
from memfence.frontends.c.llvm.reader import read_module
from memfence.frontends.c.llvm.tokens import ReadingError
from memfence.frontends.c.lowering.assemble import assemble
from memfence.frontends.c.lowering.sources import Sources
from memfence.frontends.c.machine.refusal import Refused
from memfence.frontends.c.machine.specialise import ENTRY_HINT, specialise
from memfence.frontends.endings import is_bitcode, is_from_llvm, is_llvm_text
from memfence.program.ir import Program
from memfence.program.load_options import DEFAULT_OPTIONS, COptions, LoadOptions
from memfence.reading import read_bytes
from memfence.source import SourceText, Span, text_of

DEFAULT = COptions()
IR_HINT = "write it with: clang -g -O1 -Xclang -disable-llvm-passes -S -emit-llvm FILE.c"


def parse(
    source: SourceText,
    options: LoadOptions = DEFAULT_OPTIONS,
    instead: Sequence[SourceText] = (),
    files: list[Path] | None = None,
) -> Program:
    """The program in the text, and in the other files that the options name.

    `instead`: texts that stand in place of what is in the files of their paths, headers among them. `files`: where
    those that were read are listed.
    """
    known = {text.path: text for text in instead}
    texts = [source, *(known.get(path) or _read(Path(path)) for path in options.c.also)]
    program = load_texts(texts, options.c, frozenset(options.any_number), instead, files)
    return replace(program, options=replace(options, language="c"))


def load(paths: Sequence[str | Path], options: COptions = DEFAULT) -> Program:
    """The program in these files together. InputError with a place wherever something is not supported."""
    return load_texts([_read(Path(path)) for path in paths], options)


def load_texts(
    sources: Sequence[SourceText],
    options: COptions = DEFAULT,
    any_number: frozenset[str] = frozenset(),
    instead: Sequence[SourceText] = (),
    files: list[Path] | None = None,
) -> Program:
    """The program in these texts together; their paths tell the language, and where their headers are.

    `any_number`: functions of which there may be any number of threads. `instead`: see `parse`. `files`: where those
    that were read are listed.
    """
    if options.assertions_only:
        options = replace(options, overflow=False, deadlock=False)
    modules = [_module(source, options, instead, files) for source in sources]
    if options.clang is None:
        modules += [_module(_read(file), options_for(file, options), (), files) for file in files_called(modules)]
    known = Sources(tuple(sources), tuple(instead))
    linked = Linked(modules)
    mistakes = [_twice(first, second, linked, known) for first, second in linked.duplicates()]
    if mistakes:
        raise InputError(mistakes)
    try:
        return assemble(specialise(linked, options, any_number), known, sources[0])
    except Refused as refused:
        raise InputError([_diagnostic(refused, known, sources[0])]) from None


def _read(path: Path) -> SourceText:
    try:
        content = read_bytes(path)
    except OSError as error:
        empty = SourceText(str(path), "")
        message = f"cannot read `{path}`: {error.strerror}"
        raise InputError([Diagnostic(Code.UNREADABLE, message, Label(empty.span(0, 0)))]) from None
    return SourceText(str(path), "") if is_bitcode(path) else text_of(str(path), content)


def _module(source: SourceText, options: COptions, instead: Sequence[SourceText], files: list[Path] | None) -> Module:
    path = Path(source.path)
    text = disassemble(path, source, options) if is_bitcode(path) else compile_text(source, options, instead, files)
    try:
        return read_module(text, source.path)
    except ReadingError as error:
        raise InputError([_no_module(str(error), source)]) from None


def _no_module(reason: str, source: SourceText) -> Diagnostic:
    """At the line of the IR that cannot be read; a source without anything in it has no `main`."""
    if not is_from_llvm(source.path):
        nothing = Label(source.span(0, min(1, len(source.text))), "nothing is defined here")
        return Diagnostic(Code.NO_PROCESS, "the file defines no function", nothing, hint=ENTRY_HINT)
    line = re.split(r" in |expected: ", reason)[-1]
    start = source.text.find(line)
    at = Label(source.span(start, start + len(line)) if start >= 0 else source.span(0, min(1, len(source.text))))
    return Diagnostic(Code.SYNTAX, f"this is no LLVM IR: {reason}", at, hint=IR_HINT)


def _mentioned(message: str, source: SourceText) -> Span:
    """Where IR without debug information has what the message names; else the start of the text."""
    found = re.search(r"`([^`]+)`", message) if is_llvm_text(source.path) else None
    start = source.text.find(found[1]) if found else -1
    if found is None or start < 0:
        return source.span(0, min(1, len(source.text)))
    return source.span(start, start + len(found[1]))


def _twice(first: Symbol, second: Symbol, linked: Linked, sources: Sources) -> Diagnostic:
    """Two files define the same name: as a linker would say it."""
    spans = [sources.span(linked.place_of(symbol)) for symbol in (first, second)]
    related = (Label(spans[0], "defined here"),)
    hint = "the files of one command are one program; check each in a command of its own"
    message = f"`{linked.title(second)}` is defined in two files"
    return Diagnostic(
        Code.DUPLICATE, message, Label(spans[1]), related=related, hint=hint if second.name == "main" else None
    )


def _diagnostic(refused: Refused, sources: Sources, source: SourceText) -> Diagnostic:
    span = sources.span(refused.place) if refused.place else _mentioned(refused.message, source)
    hint = refused.hint or hint_for(refused.code, refused.message)
    if refused.inside is None:
        return Diagnostic(refused.code, refused.message, Label(span, refused.label), hint=hint)
    inside = Label(sources.span(refused.inside), refused.label or "in the library")
    return Diagnostic(refused.code, refused.message, Label(span, "leads there"), related=(inside,), hint=hint)
