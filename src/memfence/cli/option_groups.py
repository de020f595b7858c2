"""Options that several verbs share, by name and type: `memfence.verbs.options` has all else about them.

A verb lists groups among its parameters, and `verb` fills them in. A group may consist of groups.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memfence.records import Record

File = Annotated[
    Path,  # whether it can be read is found by reading it: bad input, not wrong usage
    typer.Argument(metavar="FILE", help="The program; - reads standard input.", show_default=False, readable=False),
]


class States(Record):
    """Properties of states."""

    forbid: list[str] | None
    invariant: list[str] | None
    final: list[str] | None


class Properties(States):
    """Everything that can be asked for, and the bound on buffers that it may be subject to."""

    ltl: str | None
    define: list[str] | None
    fair: bool
    strongly_fair: bool
    deadlock: bool
    buffer_bound: int | None
    bound_per: str


class Searching(Record):
    """How to search."""

    engine: str
    reduce: str


class Limited(Record):
    """What may be spent."""

    timeout: float | None
    memory: int | None
    threads: int
    compact: bool


class Loading(Record):
    """How to read the program."""

    language: str | None
    int_bits: int | None


class AnyNumber(Record):
    """Templates of which there may be any number of instances."""

    any_number: list[str] | None


class LoadingInSteps(Loading):
    """How to read the program, where the steps of statements matter."""

    split_reads: bool


class Compiling(Record):
    """How to read C and C++."""

    also: list[str] | None
    macros: list[str] | None
    include: list[str] | None
    std: str | None
    clang: str | None
    entry: str
    threads_bound: int
    heap_bound: int
    recursion_bound: int
    assertions_only: bool
    allow: str | None
    as_compiled: bool
    no_cache: bool


class Certifying(Record):
    """Proofs in files, and whether they are checked at once."""

    certificate: Path | None
    verify: bool

    @property
    def is_asked(self) -> bool:
        return self.verify or self.certificate is not None


class Deciding(Record):
    """What `check` and `fix` share: a question about one program, with every way to ask and to report."""

    properties: Properties
    searching: Searching
    limited: Limited
    loading: LoadingInSteps
    parameterised: AnyNumber
    compiling: Compiling
    certifying: Certifying


class AboutStates(Record):
    """What the questions share that know properties of states only."""

    states: States
    limited: Limited
    loading: Loading
    compiling: Compiling
