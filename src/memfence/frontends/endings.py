"""The endings of files in C and C++, for the catalogue and for those who tell C from C++, or a source from bitcode."""

from __future__ import annotations

from pathlib import PurePath

C = (".c", ".i")
CPP = (".cc", ".cpp", ".cxx", ".c++", ".ii")
CPP_HEADERS = (".hh", ".hpp", ".hxx")
HEADERS = (".h", *CPP_HEADERS)
"""Parts of programs: what they are written in is told by their text."""
LLVM_TEXT, BITCODE = ".ll", ".bc"
LLVM = (LLVM_TEXT, BITCODE)
"""Files that a compiler has made."""
RUST = ".rs"
SOURCES = (*C, *CPP)
MAY_BE_INCLUDED = frozenset(("", *SOURCES, ".C", *HEADERS, ".h++", ".inc", ".inl", ".ipp", ".tpp", ".txx", ".def"))
"""Files that a text may name in an `#include`."""
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


def is_rust(path: str | PurePath) -> bool:
    """Whether the file is the root of a crate in Rust, or a part of one."""
    return _ending(path).lower() == RUST


def is_from_llvm(path: str | PurePath) -> bool:
    """Whether a compiler has been there already: what compilers are told has no effect any more."""
    return _ending(path).lower() in LLVM


def is_llvm_text(path: str | PurePath) -> bool:
    return _ending(path).lower() == LLVM_TEXT


def is_bitcode(path: str | PurePath) -> bool:
    """Whether the file has no text: clang reads it, nobody else."""
    return _ending(path).lower() == BITCODE


def is_part_of_program(path: str | PurePath) -> bool:
    """Whether several such files are one program, which a linker would put together."""
    return _ending(path).lower() in (*PROGRAMS, *HEADERS)
