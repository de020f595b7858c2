"""What can be run: files that exist, and executables with the runtime in them."""

from __future__ import annotations

from pathlib import Path

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.endings import is_rust, is_source
from memfence.source import SourceText

MARK = b"libmemfence_runtime"
"""The name of the library that every explorable program needs."""


def are_texts(names: tuple[str, ...]) -> bool:
    """Whether a compiler makes a program of them: of files in C and C++, or of the root of a crate in Rust."""
    return all(is_source(name) for name in names) or (len(names) == 1 and is_rust(names[0]))


def require_readable(names: tuple[str, ...]) -> None:
    for name in names:
        try:
            with Path(name).open("rb"):
                pass
        except OSError as error:
            at = Label(SourceText(name, "").span(0, 0))
            message = f"cannot read `{name}`: {error.strerror or error}"
            raise InputError([Diagnostic(Code.UNREADABLE, message, at)]) from None


def require_runtime(name: str) -> None:
    if MARK not in Path(name).read_bytes():
        raise refusal(name, f"`{name}` was not built with memfence's runtime")


def refusal(name: str, message: str) -> InputError:
    at = Label(SourceText(name, "").span(0, 0))
    hint = "name C or C++ files, or build the program with `memfence cc`, `memfence c++` or `memfence rustc`"
    return InputError([Diagnostic(Code.UNKNOWN_LANGUAGE, message, at, hint=hint)])
