"""Which files of a program may be changed: those that the user named, and headers that are not the system's."""

from __future__ import annotations

from os.path import realpath

from memfence.frontends import endings
from memfence.frontends.c.clang import HEADERS
from memfence.frontends.c.machine.path import SYSTEM
from memfence.program.ir import Program
from memfence.source import NOWHERE, SourceText


def is_editable(source: SourceText, given: tuple[str, ...]) -> bool:
    """Whether a fence may be written into the text; `given`: the paths of the files that the user named.

    What is not UTF-8 stays as it is: it could not be written back byte for byte.
    """
    if source is NOWHERE.source or endings.is_from_llvm(source.path) or "\ufffd" in source.text:
        return False
    if source.path in given:
        return True
    path = realpath(source.path)
    return not any(part in path for part in SYSTEM) and not path.startswith(f"{realpath(HEADERS)}/")


def given_paths(program: Program) -> tuple[str, ...]:
    """The files of the command."""
    return (program.source.path, *program.options.c.also)


def may_be_edited(program: Program, source: SourceText) -> bool:
    """Whether the text belongs to the program's author."""
    return is_editable(source, given_paths(program))


def is_cpp(source: SourceText, first: str) -> bool:
    """Whether the text is C++; a header is what the first file of the program is."""
    return endings.is_cpp(source.path) or (not endings.is_c(source.path) and endings.is_cpp(first))
