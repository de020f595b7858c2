"""Options that several verbs share, each declared once.

A verb lists groups among its parameters, and `verb` fills them in. A group may consist of groups.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memfence.cli.choices import AtomicWaits, BoundPer, CriterionChoice, EngineChoice
from memfence.cli.completion import languages
from memfence.records import Record

File = Annotated[
    Path,  # whether it can be read is found by reading it: bad input, not wrong usage
    typer.Argument(metavar="FILE", help="The program; - reads standard input.", show_default=False, readable=False),
]

MOST = 1_000_000_000
"""More than any number that makes sense, and less than the core can count to."""


def _seconds(value: float | None) -> float | None:
    """Refuse what is no number of seconds, and so no limit."""
    if value is not None and not 0 <= value <= MOST:
        raise typer.BadParameter(f"{value} is not a number of seconds from 0 to {MOST}")
    return value


TimeoutOption = Annotated[
    float | None, typer.Option("--timeout", metavar="S", min=0, callback=_seconds, help="Give up after S seconds.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print the verdict only.")]
HtmlOption = Annotated[
    Path | None, typer.Option("--html", metavar="OUT", help="Also write a page with the run to step through.")
]
LtlOption = Annotated[str | None, typer.Option("--ltl", metavar="F", help="Every fair run satisfies this formula.")]
DeadlockOption = Annotated[
    bool, typer.Option("--deadlock", help="Some step is always possible before the end; Spin's `end` labels count.")
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="local|HOST:PORT",
        help="Share the search, or several FILEs, between the machines of a Ray cluster; local: this one.",
    ),
]
AtomicWaitsOption = Annotated[
    AtomicWaits,
    typer.Option("--atomic-waits", help="An atomic write waits for its own process's stores, or for all (DVE)."),
]
CriterionOption = Annotated[
    CriterionChoice | None,
    typer.Option(
        help="What must hold. Default: safety if a property or assertion is stated, else robust. "
        "persistent and trf are about TSO; trf and drf about SC runs."
    ),
]


class States(Record):
    """Properties of states."""

    forbid: Annotated[
        list[str] | None, typer.Option(metavar="EXPR", help="No reachable state satisfies this: 'P0@cs && P1@cs'.")
    ] = None
    invariant: Annotated[
        list[str] | None, typer.Option(metavar="EXPR", help="Every reachable state satisfies this: 'P0.r <= x'.")
    ] = None
    final: Annotated[
        list[str] | None,
        typer.Option(metavar="EXPR", help="Every final state satisfies this: all ended, nothing pending."),
    ] = None


class Properties(States):
    """Everything that can be asked for, and the bound on buffers that it may be subject to."""

    ltl: LtlOption = None
    define: Annotated[
        list[str] | None, typer.Option(metavar="NAME=EXPR", help="A name for a predicate, to use in --ltl.")
    ] = None
    fair: Annotated[bool, typer.Option("--fair", help="With --ltl: weakly fair processes only.")] = False
    deadlock: DeadlockOption = False
    buffer_bound: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            min=1,
            max=65_535,
            help="At most K stores pending in a buffer. Default with --ltl: 1, else any.",
        ),
    ] = None
    bound_per: Annotated[
        BoundPer,
        typer.Option(help="With --ltl, TSO: the bound is one for each variable of a process, or for all of them."),
    ] = BoundPer.variable


class Searching(Record):
    """How to search."""

    engine: Annotated[EngineChoice, typer.Option(help="How to search for a violation of safety.")] = EngineChoice.auto
    reduce: Annotated[
        str, typer.Option(metavar="all|none|LIST", help="State space reductions: dead,fuse,order,slice,symmetry.")
    ] = "all"


class Limited(Record):
    """What may be spent."""

    timeout: TimeoutOption = None
    memory: Annotated[int | None, typer.Option(metavar="MB", min=1, max=MOST, help="Give up beyond MB megabytes.")] = (
        None
    )
    threads: Annotated[
        int, typer.Option(metavar="N", min=0, max=1024, help="Threads of a large search; 0: one per processor.")
    ] = 0
    compact: Annotated[
        bool,
        typer.Option(
            "--compact", help="Less memory for visited states, more time for runs. Also chosen near --memory."
        ),
    ] = False


class Loading(Record):
    """How to read the program."""

    language: Annotated[
        str | None,
        typer.Option("--language", metavar="L", help="Language of FILE, if unclear.", autocompletion=languages),
    ] = None
    int_bits: Annotated[
        int | None,
        typer.Option(
            "--int-bits",
            metavar="N",
            min=1,
            max=31,
            show_default=False,
            help="Integers that declare no range wrap at N bits. Default: exact where bounded, else 8.",
        ),
    ] = None


class Crowding(Record):
    """Templates of which there may be any number of instances."""

    any_number: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEMPLATE",
            help="Any number of threads of this process, not as many as FILE has.",
            show_default=False,
        ),
    ] = None


class LoadingInSteps(Loading):
    """How to read the program, where the steps of statements matter."""

    split_reads: Annotated[
        bool, typer.Option("--split-reads", help="A statement that reads several shared variables is several steps.")
    ] = False


class Compiling(Record):
    """How to read C and C++."""

    also: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="C: more files of the same program.", show_default=False),
    ] = None
    macros: Annotated[
        list[str] | None,
        typer.Option("-D", metavar="NAME[=VALUE]", help="C, Promela: define a macro.", show_default=False),
    ] = None
    include: Annotated[
        list[str] | None, typer.Option("-I", metavar="DIR", help="C: look for headers there.", show_default=False)
    ] = None
    std: Annotated[str | None, typer.Option(metavar="S", help="C: the language standard, as clang knows it.")] = None
    clang: Annotated[
        str | None, typer.Option(metavar="PATH", help="C: the compiler. Default: the ziglang package, else clang.")
    ] = None
    entry: Annotated[str, typer.Option(metavar="F", help="C: the function that runs first.")] = "main"
    threads_bound: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=MOST, help="C: follow at most N threads of a loop whose end is not known."
        ),
    ] = 2
    heap_bound: Annotated[
        int, typer.Option(metavar="N", min=1, max=MOST, help="C: follow at most N live blocks of each allocation.")
    ] = 8
    recursion_bound: Annotated[
        int, typer.Option(metavar="N", min=1, max=MOST, help="C: follow at most N open calls of a recursive function.")
    ] = 16
    assertions_only: Annotated[
        bool, typer.Option("--assertions-only", help="C: signed overflow and deadlocks are no errors.")
    ] = False
    as_compiled: Annotated[
        bool, typer.Option("--as-compiled", help="C: read the code behind the optimiser, not as it is written.")
    ] = False


class Reported(Record):
    """What is printed, and what is written beside."""

    json: JsonOption = False
    html: HtmlOption = None
    sarif: Annotated[
        Path | None,
        typer.Option("--sarif", metavar="OUT", help="Also write SARIF 2.1.0, for code scanning and editors."),
    ] = None
    junit: Annotated[Path | None, typer.Option("--junit", metavar="OUT", help="Also write JUnit XML, for CI.")] = None
    quiet: QuietOption = False
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print every statistic.")] = False


VerifyOption = Annotated[bool, typer.Option("--verify", help="Have the proof checked without the engines.")]


class Certifying(Record):
    """Proofs in files, and whether they are checked at once."""

    certificate: Annotated[
        Path | None, typer.Option(metavar="OUT.mfc", help="Also write the proof, for `memfence verify`.")
    ] = None
    verify: VerifyOption = False

    @property
    def is_asked(self) -> bool:
        return self.verify or self.certificate is not None


class Deciding(Record):
    """What `check` and `fix` share: a question about one program, with every way to ask and to report."""

    properties: Properties
    searching: Searching
    limited: Limited
    loading: LoadingInSteps
    crowding: Crowding
    compiling: Compiling
    reported: Reported
    certifying: Certifying


class AboutStates(Record):
    """What the questions share that know properties of states only."""

    states: States
    limited: Limited
    loading: Loading
    compiling: Compiling
