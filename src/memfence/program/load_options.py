"""How a text is read: everything besides the text that decides which program it is."""

from __future__ import annotations

from dataclasses import field

from memfence.failures import Allow
from memfence.records import Record


class COptions(Record, kw_only=True):
    """How C and C++ are read, under the same names as on the command line.

    `macros`: `NAME` or `NAME=VALUE`. `include`: folders for headers. `std`: the language standard, as clang knows it.
    `clang`: the compiler to use. `entry`: the function that runs first. `as_compiled`: read the code after the
    optimiser. `threads_bound`, `heap_bound`, `recursion_bound`: threads, heap blocks and open calls of one place of the
    program that are followed; a run that needs more is cut off there, and the verdict says so. `overflow`: signed
    overflow is an error. `deadlock`: so is a state in which nobody can go on. `forced_include`: headers that every file
    starts with. `also`: more files of the same program, as a linker would put them together; `fix` writes into the
    first one, which is not among them. `assertions_only`: neither overflow nor deadlocks are errors. `allow`: ends of
    the process that are normal for this program, as `memfence.failures` knows them.
    """

    macros: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    std: str | None = None
    clang: str | None = None
    entry: str = "main"
    as_compiled: bool = False
    threads_bound: int = 2
    heap_bound: int = 8
    recursion_bound: int = 16
    overflow: bool = True
    deadlock: bool = True
    forced_include: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    assertions_only: bool = False
    allow: tuple[Allow, ...] = ()


class LoadOptions(Record, kw_only=True):
    """A changed text, read with the options of the program that it was, differs by the change alone.

    `language`: its name; None: told by the file's suffix or the text. `int_bits`: how wide values without a declared
    range are (see `passes.intervals`). `split_reads`: a statement that reads several shared variables is as many steps;
    in Promela, elsewhere no statement does. `any_number`: templates of which there may be any number of instances.
    `c`: what only C and C++ have.
    """

    language: str | None = None
    int_bits: int | None = None
    split_reads: bool = False
    any_number: tuple[str, ...] = ()
    c: COptions = field(default_factory=COptions)


DEFAULT_OPTIONS = LoadOptions()
