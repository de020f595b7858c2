"""From a file to a program the models can run: choose the front end, parse, fuse lock regions, bound the values."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.catalogue import (
    LANGUAGES,
    Language,
    choose_language,
    language_named,
    language_not_read,
    looks_like_markup,
)
from memfence.frontends.endings import HEADERS, is_bitcode
from memfence.passes.intervals import bound_values
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.ir import Program
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.program.parameterised import with_any_number
from memfence.program.validate import validate
from memfence.reading import read_bytes as read_some
from memfence.source import BYTE_ORDER_MARK, SourceText

STANDARD_INPUT = "<stdin>"
LARGEST_BYTES = 64_000_000
"""Larger than any program that could be checked, small enough to be read under a limit of memory."""


def load(path: str | Path, options: LoadOptions = DEFAULT_OPTIONS) -> Program:
    """Read a program file. InputError if it cannot be read or is not a valid program of its language."""
    return load_text(read_source(path), options)


def load_text(
    source: SourceText, options: LoadOptions = DEFAULT_OPTIONS, instead: Sequence[SourceText] = ()
) -> Program:
    """The program in `source`, ready to run: lock regions fused, every value bounded. It remembers its options.

    `instead`: for C, texts that stand in place of what is in the files of their paths.
    """
    language = find_language(source, options.language)
    if language.name != "c":
        return _ready(language.frontend().parse(source, options), options)

    def read(files: list[Path] | None) -> Program:
        from memfence.frontends.c.load import parse

        return _ready(parse(source, options, instead, files), options)

    if instead:
        return read(None)
    from memfence.frontends.remembered import remembered

    return remembered(source, options, read)


def _ready(program: Program, options: LoadOptions) -> Program:
    if program.any_number or options.any_number:
        program = with_any_number(program, options.any_number)
    program = bound_values(fuse_lock_regions(program), options.int_bits)
    validate(program)
    return program


def read_source(path: str | Path) -> SourceText:
    """The text of the file; MF002 if there is none. Bitcode has no text: its front end reads the file itself."""
    try:
        content = read_bytes(path)
        return SourceText(str(path), "") if is_bitcode(path) else _decoded(str(path), content)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None


def read_bytes(path: str | Path) -> bytes:
    """The content of the file; what has no end, such as a device, is cut off just past what is accepted."""
    return read_some(Path(path), LARGEST_BYTES + 1)


def read_standard_input() -> SourceText:
    """What is piped into this process, called `<stdin>`; MF002 if that is nothing that can be read."""
    try:
        return _decoded(STANDARD_INPUT, sys.stdin.buffer.read(LARGEST_BYTES + 1))
    except (OSError, AttributeError) as error:  # None, where standard input is closed
        raise _unreadable(STANDARD_INPUT, getattr(error, "strerror", None) or "it is closed") from None


def _decoded(path: str, content: bytes) -> SourceText:
    """A byte order mark is no part of the text, but is remembered: some editors write one."""
    if len(content) > LARGEST_BYTES:
        raise _unreadable(path, f"it is larger than {LARGEST_BYTES // 1_000_000} MB")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"byte {error.start} is not UTF-8") from None
    return SourceText(path, text.removeprefix(BYTE_ORDER_MARK), has_mark=text.startswith(BYTE_ORDER_MARK))


def find_language(source: SourceText, name: str | None) -> Language:
    """The language called `name`, else the one that the file's suffix or content tells."""
    language = language_named(name) if name else choose_language(source.path, source.text)
    if language is None and not name and looks_like_markup(source.text):
        what = f"`{source.path}` is an HTML or XML file, not a program"
        hint = "give the program that it is about, or say by --language how to read it"
        raise InputError([Diagnostic(Code.UNKNOWN_LANGUAGE, what, Label(source.span(0, 1)), hint=hint)])
    if language is None:
        known = ", ".join(known.name for known in LANGUAGES)
        what = f"`{name}` is not a language" if name else f"the language of `{source.path}` cannot be told"
        hint = f"use --language with one of: {known}"
        if not name and (title := language_not_read(source.path)) is not None:
            what = f"{title} is not read: `{source.path}`"
            hint = "write the algorithm in C with the same atomics and orders; `memfence examples` lists some"
            if title == "Rust":
                hint = "explore the program as it runs: `memfence run`"
        if not name and Path(source.path).suffix in HEADERS:
            what = f"a header is part of a program: `{source.path}`"
            hint = "check the .c or .cpp file that includes it (-I names its folder), or say --language c"
        at = Label(source.span(0, 1))
        raise InputError([Diagnostic(Code.UNKNOWN_LANGUAGE, what, at, hint=hint)])
    return language


def _unreadable(path: str | Path, reason: str) -> InputError:
    empty = SourceText(str(path), "")
    at, hint = (
        Label(empty.span(0, 0)),
        None if Path(path).exists() else _nearest(Path(path)),
    )
    return InputError([Diagnostic(Code.UNREADABLE, f"cannot read `{path}`: {reason}", at, hint=hint)])


def _nearest(path: Path) -> str | None:
    """The file beside it whose name is most like it, whatever the folder and the ending."""
    names = {Path(other).stem: other for other in _neighbours(path)}
    near = get_close_matches(path.stem, names, n=1)
    return f"did you mean `{names[near[0]]}`?" if near else None


def _neighbours(path: Path) -> list[str]:
    """The files beside `path`, written as `path` is."""
    try:
        return sorted(str(path.with_name(other.name)) for other in path.parent.iterdir() if other.is_file())
    except (OSError, ValueError):
        return []
