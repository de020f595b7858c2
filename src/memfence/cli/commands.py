"""The commands: read, call, print, choose the exit code."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from memfence.cli.conflicts import refuse_other_models, refuse_unused, typed
from memfence.cli.exit_codes import Exit, exit_of
from memfence.cli.outputs import HtmlOption, JunitOption, Outputs, SarifOption, require_place, write_report
from memfence.version import VERSION

if TYPE_CHECKING:
    from memfence.diagnostics import InputError
    from memfence.program.ir import Program
    from memfence.tasks.options import CheckOptions
    from memfence.tasks.result import CheckResult

ORDER = ("check", "fix", "why", "compare", "explore", "monitor", "translate", "bench", "explain")


class Commands(TyperGroup):
    """The commands in the order in which one needs them, not in that of the modules that define them."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


app = typer.Typer(
    name="memfence",
    cls=Commands,
    help="Does your lock-free code still work on real hardware, and where exactly do the fences go?\n\n"
    "Start with: memfence check examples/lost_wakeup.pml",
    epilog="Exit codes: 0 holds, 1 violated, 2 wrong usage, 3 bad input, 4 unknown or only bounded, 70 internal error.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Model(StrEnum):
    sc = "sc"
    tso = "tso"
    pso = "pso"


class CriterionChoice(StrEnum):
    safety = "safety"
    persistent = "persistent"
    robust = "robust"
    state_robust = "state-robust"
    trf = "trf"
    drf = "drf"


class EngineChoice(StrEnum):
    auto = "auto"
    explicit = "explicit"
    symbolic = "symbolic"
    dual = "dual"


class Instrument(StrEnum):
    persistence = "persistence"


class Target(StrEnum):
    promela = "promela"
    dve = "dve"
    dot = "dot"


class BoundPer(StrEnum):
    variable = "variable"
    process = "process"


class AtomicWaits(StrEnum):
    own = "own"
    all = "all"


AtomicWaitsOption = Annotated[
    AtomicWaits,
    typer.Option("--atomic-waits", help="An atomic write waits for its own process's stores, or for all (DVE)."),
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The program; - reads standard input.", show_default=False)]
BoundPerOption = Annotated[
    BoundPer, typer.Option(help="With --ltl, TSO: the bound is one for each variable of a process, or for all of them.")
]
EngineOption = Annotated[EngineChoice, typer.Option(help="How to search for a violation of safety.")]
ReduceOption = Annotated[
    str, typer.Option(metavar="all|none|LIST", help="State space reductions: dead,fuse,order,slice,symmetry.")
]
ForbidOption = Annotated[
    list[str] | None, typer.Option(metavar="EXPR", help="No reachable state satisfies this: 'P0@cs && P1@cs'.")
]
InvariantOption = Annotated[
    list[str] | None, typer.Option(metavar="EXPR", help="Every reachable state satisfies this: 'P0.r <= x'.")
]
CRITERION_HELP = (
    "What must hold. Default: safety if a property or assertion is stated, else robust. "
    "persistent and trf are about TSO; trf and drf about SC runs."
)
LanguageOption = Annotated[str | None, typer.Option("--language", metavar="L", help="Language of FILE, if unclear.")]
IntBits = Annotated[
    int | None,
    typer.Option(
        "--int-bits", metavar="N", min=1, max=31, show_default=False,
        help="Integers that declare no range wrap at N bits. Default: exact where bounded, else 8.",
    ),
]  # fmt: skip


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        sys.stdout.write(f"memfence {VERSION}\n")
        raise typer.Exit


@app.command(
    short_help="Does the program still work? A proof, or a run.",
    epilog="Example: memfence check examples/lost_wakeup.pml --model tso",
)
def check(
    context: typer.Context,
    file: File,
    model: Annotated[Model, typer.Option(help="Memory model.")] = Model.tso,
    criterion: Annotated[
        CriterionChoice | None,
        typer.Option(help=CRITERION_HELP),
    ] = None,
    forbid: ForbidOption = None,
    invariant: InvariantOption = None,
    ltl: Annotated[str | None, typer.Option(metavar="F", help="Every fair run satisfies this formula.")] = None,
    define: Annotated[
        list[str] | None, typer.Option(metavar="NAME=EXPR", help="A name for a predicate, to use in --ltl.")
    ] = None,
    fair: Annotated[bool, typer.Option("--fair", help="With --ltl: weakly fair processes only.")] = False,
    deadlock: Annotated[
        bool, typer.Option("--deadlock", help="Some step is always possible before the end; Spin's `end` labels count.")
    ] = False,
    buffer_bound: Annotated[
        int | None, typer.Option(metavar="K", min=1, help="At most K stores pending in a buffer.")
    ] = None,
    bound_per: BoundPerOption = BoundPer.variable,
    int_bits: IntBits = None,
    abstract: Annotated[
        int | None,
        typer.Option(metavar="K", min=0, help="For persistent: first flatten all but one process after K steps."),
    ] = None,
    engine: EngineOption = EngineChoice.auto,
    reduce: ReduceOption = "all",
    timeout: Annotated[float | None, typer.Option(metavar="S", min=0, help="Give up after S seconds.")] = None,
    memory: Annotated[int | None, typer.Option(metavar="MB", min=1, help="Give up beyond MB megabytes.")] = None,
    threads: Annotated[int, typer.Option(metavar="N", min=0, help="Search threads; 0: one a processor.")] = 1,
    language: LanguageOption = None,
    split_reads: Annotated[
        bool, typer.Option("--split-reads", help="A statement that reads several shared variables is several steps.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    html: HtmlOption = None,
    sarif: SarifOption = None,
    junit: JunitOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the verdict only.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print every statistic.")] = False,
) -> None:
    """Does the program still work under the memory model? A proof, or a run that shows why not."""
    from memfence.cli.progress import ProgressLine
    from memfence.diagnostics import InputError
    from memfence.tasks.options import CheckOptions

    if abstract is not None and (criterion is None or criterion.value != "persistent"):
        raise typer.BadParameter("an abstraction exists for --criterion persistent only", param_hint="--abstract")
    refuse_other_models([criterion], model)
    progress = ProgressLine(quiet=quiet)
    outputs = Outputs(html, sarif, junit)
    outputs.require_places()
    try:
        program = _load(file, language, int_bits, split_reads)
        if not quiet:
            _warn(program)
        options = CheckOptions(
            model=model.value,
            criterion=None if criterion is None else criterion.value,
            engine=engine.value,
            deadlock=deadlock,
            define=_definitions(define or []),
            fair=fair,
            buffer_bound=buffer_bound,
            bound_per=bound_per.value,
            abstract=abstract,
            reduce=_reductions(reduce),
            timeout_seconds=timeout,
            memory_megabytes=memory,
            threads=threads,
            progress=progress if progress.active else None,
            **_properties(program, forbid or [], invariant or [], ltl),
        )
        refuse_unused(program, options, typed(context, "fair", "define", "bound_per"))
        result = _check(program, options)
    except InputError as error:
        outputs.write_errors(file, error)
        raise typer.Exit(_refuse(error, json)) from None
    finally:
        progress.close()
    _print_check(result, json, quiet, verbose)
    outputs.write_check(result)
    raise typer.Exit(exit_of(result.verdict))


@app.command(epilog="Example: memfence translate examples/peterson.pml --to dot | dot -Tsvg > peterson.svg")
def translate(
    context: typer.Context,
    file: File,
    to: Annotated[
        Target,
        typer.Option(
            "--to", help="Promela with the SC meaning, DVE with --store-buffers (from a DVE model), or a drawing."
        ),
    ],
    store_buffers: Annotated[
        bool, typer.Option("--store-buffers", help="Needed by --to dve: write out the buffers of TSO/var(1).")
    ] = False,
    atomic: Annotated[
        Path | None, typer.Option("--atomic", metavar="LIST", help="With --store-buffers: writes that bypass them.")
    ] = None,
    atomic_waits: AtomicWaitsOption = AtomicWaits.own,
    instrument: Annotated[
        Instrument | None,
        typer.Option("--instrument", help="With --to promela: fails under SC iff the program is not persistent."),
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="OUT", help="Write to OUT.")] = None,
    int_bits: IntBits = None,
    language: LanguageOption = None,
) -> None:
    """Write the program for another tool."""
    from memfence.diagnostics import InputError

    if to is Target.dve and not store_buffers:
        what = "DVE is written with the store buffers in it: add --store-buffers, or use --to promela for the model"
        raise typer.BadParameter(what, param_hint="--to")
    if store_buffers and to is not Target.dve:
        raise typer.BadParameter("it goes with --to dve", param_hint="--store-buffers")
    for option in typed(context, "atomic", "atomic_waits"):
        if not store_buffers:
            raise typer.BadParameter("it goes with --store-buffers", param_hint=option)
    if instrument is not None and to is not Target.promela:
        raise typer.BadParameter("it goes with --to promela", param_hint="--instrument")
    require_place(output, "--output")
    try:
        program = _load(file, language, int_bits)
        if instrument is not None:
            from memfence.translate.persistence_query import persistence_query

            program = persistence_query(program)
        text = _with_store_buffers(program, atomic, atomic_waits) if store_buffers else _translated(program, to)
    except InputError as error:
        raise typer.Exit(_refuse(error, False)) from None
    if output is None:
        sys.stdout.write(text)
    else:
        write_report(output, text, "--output")


@app.command(short_help="Explain a diagnostic code.", epilog="Example: memfence explain MF101")
def explain(
    code: Annotated[str | None, typer.Argument(metavar="[CODE]", help="A code such as MF101; none lists all.")] = None,
) -> None:
    """Explain a diagnostic code, with an example."""
    from memfence.codes import Code
    from memfence.explanations import explanation

    if code is None:
        sys.stdout.write("".join(f"{known.id}  {known.summary}\n" for known in Code))
        return
    found = next((known for known in Code if known.id == code.upper()), None)
    if found is None:
        raise typer.BadParameter(f"there is no code {code}; `memfence explain` lists all", param_hint="CODE")
    sys.stdout.write(f"{found.id}: {found.summary}\n\n{explanation(found)}")


def _load(file: Path, language: str | None, int_bits: int | None, split_reads: bool = False) -> Program:
    from memfence.pipeline import load, load_text, read_standard_input
    from memfence.program.load_options import LoadOptions

    options = LoadOptions(language=language, int_bits=int_bits, split_reads=split_reads)
    return load_text(read_standard_input(), options) if is_standard_input(file) else load(file, options)


def is_standard_input(file: Path) -> bool:
    return str(file) == "-"


def _warn(program: Program) -> None:
    from memfence.diagnostics import render

    if program.warnings:
        sys.stderr.write(render(program.warnings) + "\n")


def _check(program: Program, options: CheckOptions) -> CheckResult:
    from memfence.questions import check as run_check

    return run_check(program, options)


def _definitions(texts: list[str]) -> tuple[tuple[str, str], ...]:
    for text in texts:
        if "=" not in text:
            raise typer.BadParameter(f"`{text}` is not NAME=EXPR", param_hint="--define")
    return tuple((name.strip(), meaning) for name, _, meaning in (text.partition("=") for text in texts))


def _properties(program: Program, forbid: list[str], invariant: list[str], ltl: str | None) -> dict[str, Any]:
    """The properties of the command line; InputError with the mistakes of all of them."""
    from memfence.diagnostics import Diagnostic, InputError
    from memfence.program.expressions import FALSE, Expr
    from memfence.program.ir import Forbidden, Invariant, Ltl
    from memfence.program.text.properties import parse_expression
    from memfence.source import SourceText

    mistakes: list[Diagnostic] = []

    def parsed(text: str, option: str) -> Expr:
        try:
            return parse_expression(text, program, option)
        except InputError as error:
            mistakes.extend(error.diagnostics)
            return FALSE

    given = {
        "forbid": tuple(Forbidden(parsed(text, "--forbid"), text) for text in forbid),
        "invariant": tuple(Invariant(parsed(text, "--invariant"), text) for text in invariant),
        "ltl": None if ltl is None else Ltl("ltl", ltl, SourceText("--ltl", ltl).span(0, len(ltl))),
    }
    if mistakes:
        raise InputError(mistakes)
    return given


def _reductions(text: str) -> tuple[str, ...]:
    from memfence.tasks.options import ALL_REDUCTIONS

    if text in ("all", "none"):
        return ALL_REDUCTIONS if text == "all" else ()
    chosen = tuple(name.strip() for name in text.split(","))
    for name in chosen:
        if name not in ALL_REDUCTIONS:
            known = ", ".join(ALL_REDUCTIONS)
            raise typer.BadParameter(
                f"`{name}` is no reduction; use all, none or some of {known}", param_hint="--reduce"
            )
    return tuple(name for name in ALL_REDUCTIONS if name in chosen)


def _with_store_buffers(program: Program, atomic: Path | None, waits: AtomicWaits) -> str:
    from memfence.passes.atomic_list import parse_atomic_writes
    from memfence.pipeline import read_source
    from memfence.translate.dve import render_store_buffer_model

    writes = () if atomic is None else parse_atomic_writes(read_source(atomic), program)
    return render_store_buffer_model(program, writes, waits_for=waits.value)


def _translated(program: Program, to: Target) -> str:
    match to:
        case Target.promela:
            from memfence.translate.promela import render_promela

            return render_promela(program)
        case Target.dot:
            from memfence.translate.dot import render_dot

            return render_dot(program)
        case Target.dve:
            raise AssertionError("with store buffers only")


def _print_check(result: CheckResult, json: bool, quiet: bool, verbose: bool) -> None:
    from memfence.cli import terminal

    if json:
        from memfence.reports.json import render_json

        sys.stdout.write(render_json(result))
        return
    from memfence.reports.text import render_text, verdict_line

    is_known = result.verdict.value != "unknown"  # what was not seen is not "Never"
    if result.final_states is not None and result.program.language == "litmus" and is_known:
        sys.stdout.write(_herd_block(result))
    text = f"{verdict_line(result)}\n" if quiet else render_text(result, width=terminal.width(), verbose=verbose)
    terminal.write(text)


def _herd_block(result: CheckResult) -> str:
    """The block that scripts for herd7 look for; our own report follows it."""
    from memfence.program.ir import Final
    from memfence.reports.herd import herd_block

    condition = next(p for p in result.program.properties if isinstance(p, Final))
    return herd_block(result.program.name, condition, [values for values, _ in result.final_states or ()])


def _refuse(error: InputError, json: bool) -> Exit:
    """Say what is wrong with the input: coded diagnostics on stderr, or the JSON object on stdout."""
    if json:
        from memfence.reports.json import dump, error_object

        sys.stdout.write(dump(error_object(error)))
    else:
        from memfence.cli import terminal
        from memfence.diagnostics import render

        terminal.write(render(error.diagnostics), sys.stderr)
    return Exit.BAD_INPUT
