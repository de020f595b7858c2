"""Which languages there are, how to recognise them, and what the package of each provides.

A new language is one package beside this and one line in `LANGUAGES`. Packages are imported when a file needs them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import PurePath
from typing import Literal, Protocol, cast

from memfence.frontends.endings import PROGRAMS
from memfence.program.ir import FenceKind, FencePoint, Program
from memfence.program.load_options import LoadOptions
from memfence.records import Record
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


class Language(Record):
    """How to recognise a language: by `suffixes`; where several share one, or none has it, by `looks_like` the text.

    `only_models`: those that know its instructions, where others do not; models of users' cat files always may.
    """

    name: str
    title: str
    module: str
    suffixes: tuple[str, ...]
    looks_like: Callable[[str], bool]
    only_models: tuple[str, ...] = ()

    def frontend(self) -> Frontend:
        return cast(Frontend, import_module(f"memfence.frontends.{self.module}"))


_LEADING_COMMENTS = re.compile(r"\A\s*(?:\(\*.*?\*\)\s*)*", re.DOTALL)


def _first_word(text: str) -> str:
    return next(iter(_LEADING_COMMENTS.sub("", text).split(maxsplit=1)), "")


def _words(text: str, *needed: str) -> bool:
    return all(word in text for word in needed)


LANGUAGES = (
    Language("c", "C and C++", "c", PROGRAMS,
             lambda text: "#include" in text and "proctype" not in text),
    Language("persist", "assembly-like language of the persistence paper", "persist", (".pst",),
             lambda text: _words(text, "program", "procs", "begin")),
    Language("litmus", "x86 litmus tests", "litmus", (".litmus",),
             lambda text: _first_word(text) in ("X86", "X86_64"), only_models=("tso", "x86", "sc", "pso")),
    Language("aarch64", "AArch64 litmus tests", "aarch64", (".litmus",), lambda text: _first_word(text) == "AArch64",
             only_models=("armv8",)),
    Language("clitmus", "litmus tests in C", "clitmus", (".litmus",), lambda text: _first_word(text) == "C"),
    Language("rmm", "Memorax's RMM", "rmm", (".rmm",), lambda text: _words(text, "forbidden", "process", "text")),
    Language("dve", "DiVinE's DVE", "dve", (".dve",), lambda text: _words(text, "process", "trans", "system")),
    Language("trencher", "transition lists of Trencher and Persist", "trencher", (),
             lambda text: _words(text, "thread", "initial", "transition")),
    Language("remmex", "Remmex's dialect of Promela", "remmex", (".remmex",),
             lambda text: "proctype" in text and ("store(" in text or "load(" in text)),
    Language("promela", "Promela", "promela", (".pml", ".prom", ".promela"), lambda text: "proctype" in text),
)  # fmt: skip


def language_named(name: str) -> Language | None:
    return next((language for language in LANGUAGES if language.name == name), None)


def titles_of(names: Iterable[str]) -> str:
    """What users call the languages of these names."""
    return " and ".join(language.title for language in LANGUAGES if language.name in names)


def choose_language(path: str, text: str) -> Language | None:
    """By suffix, and by content among languages that share it; else by content. The first of all that would do.

    Markup is no program, whatever words are in it.
    """
    suffix = PurePath(path).suffix.lower()
    candidates = [language for language in LANGUAGES if suffix in language.suffixes]
    if len(candidates) == 1:
        return candidates[0]
    if not candidates and looks_like_markup(text):
        return None
    fitting = (language for language in candidates or LANGUAGES if language.looks_like(text))
    return next(fitting, candidates[0] if candidates else None)


def looks_like_markup(text: str) -> bool:
    """Whether this is HTML or XML, such as a report of ours."""
    return text.lstrip("\ufeff \t\r\n")[:9].lower().startswith(("<!doctype", "<html", "<?xml", "<svg"))
