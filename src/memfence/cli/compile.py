"""`memfence cc ...` and `memfence c++ ...`: gcc and g++ for builds whose programs are to be explored."""

from __future__ import annotations

from typing import Annotated

import typer

from memfence.cli.app import app
from memfence.cli.refusal import refusing

AS_IT_IS = {"ignore_unknown_options": True, "help_option_names": ["--help"], "allow_interspersed_args": False}
Words = Annotated[
    list[str], typer.Argument(metavar="ARGUMENT...", help="As for gcc; all of them are handed on.", show_default=False)
]


@app.command(
    "cc",
    context_settings=AS_IT_IS,
    short_help="Compile C as gcc does, for `memfence run`.",
    epilog="Example: memfence cc -O1 -c queue.c -o queue.o",
)
def compile_c(words: Words) -> None:
    """Compile and link C as gcc does, so that the program runs as usual and can be explored by `memfence run`."""
    _compile(words, is_cpp=False)


@app.command(
    "c++",
    context_settings=AS_IT_IS,
    short_help="Compile C++ as g++ does, for `memfence run`.",
    epilog="Example: memfence c++ -O1 -c queue.cpp -o queue.o",
)
def compile_cpp(words: Words) -> None:
    """Compile and link C++ as g++ does, so that the program runs as usual and can be explored by `memfence run`."""
    _compile(words, is_cpp=True)


def _compile(words: list[str], *, is_cpp: bool) -> None:
    from memfence.api.run import drive_compiler

    with refusing(False):
        raise typer.Exit(drive_compiler(words, is_cpp=is_cpp))
