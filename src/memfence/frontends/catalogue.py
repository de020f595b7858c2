"""The languages: one row each. Whatever depends on the language of a text or on the ending of a file is told here.

A new language is one package beside this and one row in `LANGUAGES`. Packages are imported when a file needs them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import PurePath
from typing import cast

from memfence.frontends import endings
from memfence.frontends.frontend import EditKind, Frontend
from memfence.records import Record

C_COMMENTS = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
C_WORDS = (
    "auto bool break case char const continue default do double else enum extern float for goto if inline int long"
    " register return short signed sizeof static struct switch typedef union unsigned void volatile while"
    " true false NULL assert _Atomic atomic_int class namespace nullptr template using"
)
PROMELA_WORDS = (
    "active assert atomic bit bool break byte d_step do else fi for goto if in init inline int local ltl mtype od pid"
    " proctype return run select short skip timeout true false typedef unsigned chan hidden never printf unless"
)
ALL_KINDS: tuple[EditKind, ...] = ("mfence", "sfence", "locked")


class Language(Record):
    """How to recognise a language: by `suffixes`; where several share one, or none has it, by `looks_like` the text.

    `headers`: endings of files that are parts of its programs. `comments`: a pattern; `words`: what editors and reports
    colour. `edits`: what can be written into its texts to order stores. `editor`: the mode of the page's editor (of
    C++ where the ending says so).
    """

    name: str
    title: str
    module: str
    suffixes: tuple[str, ...]
    looks_like: Callable[[str], bool]
    comments: str = C_COMMENTS
    words: str = ""
    headers: tuple[str, ...] = ()
    edits: tuple[EditKind, ...] = ALL_KINDS
    editor: str = ""

    def frontend(self) -> Frontend:
        return cast(Frontend, import_module(f"memfence.frontends.{self.module}"))


_LEADING_COMMENTS = re.compile(r"\A\s*(?:\(\*.*?\*\)\s*)*", re.DOTALL)
_HERD_COMMENTS = r"\(\*.*?(?:\*\)|\Z)"


def _first_word(text: str) -> str:
    return next(iter(_LEADING_COMMENTS.sub("", text).split(maxsplit=1)), "")


def _has_words(text: str, *needed: str) -> bool:
    return all(word in text for word in needed)


LANGUAGES = (
    Language(
        "c", "C and C++", "c", endings.PROGRAMS,
        lambda text: "#include" in text and "proctype" not in text,
        words=C_WORDS, headers=endings.HEADERS, edits=("mfence", "sfence"), editor="C",
    ),
    Language(
        "persist", "assembly-like language of the persistence paper", "persist", (".pst",),
        lambda text: _has_words(text, "program", "procs", "begin"),
        comments=r"//[^\n]*|#[^\n]*",
        words="program vars procs process regs begin end init initial goto skip assume read write arw cas fence mfence"
        " sfence locked if call property forbid",
    ),
    Language(
        "litmus", "x86 litmus tests", "litmus", (".litmus",),
        lambda text: _first_word(text) in ("X86", "X86_64"),
        comments=_HERD_COMMENTS, words="exists forall locations filter not mfence sfence lfence lock",
        edits=("mfence", "sfence"),
    ),
    Language(
        "aarch64", "AArch64 litmus tests", "aarch64", (".litmus",),
        lambda text: _first_word(text) == "AArch64",
        comments=_HERD_COMMENTS, words="exists forall locations filter not", edits=("mfence", "sfence"),
    ),
    Language(
        "clitmus", "litmus tests in C", "clitmus", (".litmus",),
        lambda text: _first_word(text) == "C",
        comments=f"{_HERD_COMMENTS}|{C_COMMENTS}", words=f"{C_WORDS} exists forall locations filter not",
        edits=("mfence", "sfence"),
    ),
    Language(
        "rmm", "Memorax's RMM", "rmm", (".rmm",),
        lambda text: _has_words(text, "forbidden", "process", "text"),
        comments=rf"{C_COMMENTS}|--[^\n]*",
        words="forbidden data process registers text macro endmacro either or when while if then else goto locked write"
        " read fence ssfence llfence mfence sfence syncwr cas nop true false my",
    ),
    Language(
        "dve", "DiVinE's DVE", "dve", (".dve",),
        lambda text: _has_words(text, "process", "trans", "system"),
        words="process state trans commit assert init sync guard effect system async accept accepting channel byte int"
        " const true false not and or imply property", edits=("locked",), editor="C",
    ),
    Language(
        "trencher", "transition lists of Trencher and Persist", "trencher", (),
        lambda text: _has_words(text, "thread", "initial", "transition"),
        comments=r"#[^\n]*",
        words="memory_size thread initial transition end read write local check lock unlock locked mfence sfence nop",
    ),
    Language(
        "remmex", "Remmex's dialect of Promela", "remmex", (".remmex",),
        lambda text: "proctype" in text and ("store(" in text or "load(" in text),
        words=f"{PROMELA_WORDS} load store loadval lock unlock mfence sfence",
    ),
    Language(
        "promela", "Promela", "promela", (".pml", ".prom", ".promela"), lambda text: "proctype" in text,
        words=f"{PROMELA_WORDS} mfence sfence cas xchg fetch_add release_store", editor="C",
    ),
)  # fmt: skip


def language_named(name: str) -> Language | None:
    return next((language for language in LANGUAGES if language.name == name), None)


NOT_READ = {
    ".rs": "Rust", ".go": "Go", ".java": "Java", ".kt": "Kotlin", ".swift": "Swift", ".zig": "Zig", ".cs": "C#",
    ".py": "Python", ".tla": "TLA+", ".s": "assembly",
}  # fmt: skip
"""Languages that people try, by the endings of their files."""


def language_not_read(path: str) -> str | None:
    """The language that the ending tells, where it is none of ours."""
    return NOT_READ.get(PurePath(path).suffix.lower())


def titles_of(names: Iterable[str]) -> str:
    """What users call the languages of these names."""
    return " and ".join(language.title for language in LANGUAGES if language.name in names)


def edits_of(name: str) -> tuple[EditKind, ...]:
    """What can be written into texts of the language; into those of an unknown one, everything."""
    language = language_named(name)
    return language.edits if language else ALL_KINDS


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


def editor_mode(path: str) -> str:
    """How the page's editor colours the file; empty: not at all."""
    if endings.is_cpp(path):
        return "C++"
    suffix = "" if endings.is_from_llvm(path) else PurePath(path).suffix.lower()
    return next((one.editor for one in LANGUAGES if suffix in (*one.suffixes, *one.headers)), "")


def looks_like_markup(text: str) -> bool:
    """Whether this is HTML or XML, such as a report of ours."""
    return text.lstrip("\ufeff \t\r\n")[:9].lower().startswith(("<!doctype", "<html", "<?xml", "<svg"))
