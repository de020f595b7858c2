"""The endings of files in C and C++: the one list. Whoever tells a language by the ending of a file asks here."""

from __future__ import annotations

from pathlib import PurePath

C = (".c", ".i")
CPP = (".cc", ".cpp", ".cxx", ".c++", ".ii")
CPP_HEADERS = (".hh", ".hpp", ".hxx")
HEADERS = (".h", *CPP_HEADERS)
"""Parts of programs: what they are written in is told by their text."""
LLVM = (".ll", ".bc")
"""Files that a compiler has made, as text and as bitcode."""
SOURCES = (*C, *CPP)
PROGRAMS = (*SOURCES, *LLVM)


def _ending(path: str | PurePath) -> str:
    return PurePath(path).suffix


def is_cpp(path: str | PurePath) -> bool:
    """Whether the file is C++, as compilers tell it: `.C` is, `.c` is not."""
    return _ending(path) == ".C" or _ending(path).lower() in (*CPP, *CPP_HEADERS)


def is_c(path: str | PurePath) -> bool:
    """Whether the file is C and nothing else; a header may be either."""
    return _ending(path) != ".C" and _ending(path).lower() in C


def is_source(path: str | PurePath) -> bool:
    """Whether the file is a text in C or C++ that can be compiled by itself."""
    return _ending(path).lower() in SOURCES


def is_from_llvm(path: str | PurePath) -> bool:
    """Whether a compiler has been there already: what compilers are told has no effect any more."""
    return _ending(path).lower() in LLVM


def is_part_of_program(path: str | PurePath) -> bool:
    """Whether several such files are one program, which a linker would put together."""
    return _ending(path).lower() in (*PROGRAMS, *HEADERS)
