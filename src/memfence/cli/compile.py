"""`memfence cc`, `c++` and `rustc`: the compilers, for builds whose programs are to be explored."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memfence.cli.exit_codes import HandedOn
from memfence.cli.refusal import refusing
from memfence.cli.verb import verb

AS_IT_IS: dict[str, Any] = {
    "context_settings": {
        "ignore_unknown_options": True,
        "help_option_names": ["--help"],
        "allow_interspersed_args": False,
    }
}
Words = Annotated[
    list[str],
    typer.Argument(metavar="ARGUMENT...", help="As for the compiler; all of them are handed on.", show_default=False),
]


@verb("Compile C as gcc does, for `memfence run`.", example="cc -O1 -c queue.c -o queue.o", name="cc", **AS_IT_IS)
def compile_c(words: Words) -> None:
    """Compile and link C as gcc does, so that the program runs as usual and can be explored by `memfence run`."""
    _compile(words, is_cpp=False)


@verb("Compile C++ as g++ does, for `memfence run`.", example="c++ -O1 -c queue.cpp -o queue.o", name="c++", **AS_IT_IS)
def compile_cpp(words: Words) -> None:
    """Compile and link C++ as g++ does, so that the program runs as usual and can be explored by `memfence run`."""
    _compile(words, is_cpp=True)


@verb("Compile Rust as rustc does, for `memfence run`.", example="rustc -O queue.rs", name="rustc", **AS_IT_IS)
def compile_rust(words: Words) -> None:
    """Compile Rust as rustc does, so that the program runs as usual and can be explored by `memfence run`."""
    from memfence.api.run import drive_rustc

    with refusing(False):
        raise typer.Exit(HandedOn(drive_rustc(words)))


def _compile(words: list[str], *, is_cpp: bool) -> None:
    from memfence.api.run import drive_compiler

    with refusing(False):
        raise typer.Exit(HandedOn(drive_compiler(words, is_cpp=is_cpp)))
