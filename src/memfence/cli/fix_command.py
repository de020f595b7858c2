"""`memfence fix FILE`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memfence.cli.commands import (
    CRITERION_HELP,
    AtomicWaits,
    AtomicWaitsOption,
    BoundPer,
    BoundPerOption,
    CriterionChoice,
    EngineChoice,
    EngineOption,
    File,
    ForbidOption,
    IntBits,
    InvariantOption,
    LanguageOption,
    ReduceOption,
    _definitions,
    _load,
    _properties,
    _reductions,
    _refuse,
    is_standard_input,
)
from memfence.cli.conflicts import refuse_other_models, refuse_unused, typed
from memfence.cli.exit_codes import Exit
from memfence.cli.fix_atomic import AtomicOutputs, fix_atomic, is_temporal
from memfence.cli.outputs import HtmlOption, JunitOption, Outputs, SarifOption, require_place, write_report

if TYPE_CHECKING:
    from memfence.frontends.registry import EditKind
    from memfence.synthesis.result import FixResult


class RelaxedModel(StrEnum):
    tso = "tso"
    pso = "pso"


class Minimise(StrEnum):
    COUNT = "count"
    COST = "cost"
    FIRST = "first"


class Via(StrEnum):
    tso = "tso"


def fix(
    context: typer.Context,
    file: File,
    model: Annotated[RelaxedModel, typer.Option(help="Memory model.")] = RelaxedModel.tso,
    criterion: Annotated[
        CriterionChoice | None,
        typer.Option(help=CRITERION_HELP),
    ] = None,
    forbid: ForbidOption = None,
    invariant: InvariantOption = None,
    ltl: Annotated[
        str | None, typer.Option(metavar="F", help="Every fair run satisfies this formula: atomic writes (DVE).")
    ] = None,
    define: Annotated[
        list[str] | None, typer.Option(metavar="NAME=EXPR", help="A name for a predicate, to use in --ltl.")
    ] = None,
    fair: Annotated[bool, typer.Option("--fair", help="With --ltl: weakly fair processes only.")] = False,
    buffer_bound: Annotated[
        int | None,
        typer.Option(metavar="K", min=1, help="At most K stores pending in a buffer. Default with --ltl: 1, else any."),
    ] = None,
    bound_per: BoundPerOption = BoundPer.variable,
    atomic: Annotated[
        Path | None, typer.Option("--atomic", metavar="LIST", help="With --ltl: atomic writes, read and written.")
    ] = None,
    atomic_waits: AtomicWaitsOption = AtomicWaits.own,
    deadlock: Annotated[
        bool, typer.Option("--deadlock", help="Some step is always possible before the end; Spin's `end` labels count.")
    ] = False,
    minimise: Annotated[
        Minimise, typer.Option(help="Fewest edits, least cost, or the first set the papers' greedy loops find.")
    ] = Minimise.COUNT,
    every: Annotated[bool, typer.Option("--all", help="List every minimal set.")] = False,
    via: Annotated[
        Via | None, typer.Option(help="For PSO: mfences until it works under TSO, then sfences.", show_default=False)
    ] = None,
    kinds: Annotated[
        str | None, typer.Option(metavar="LIST", help="What may be written: some of mfence,sfence,locked.")
    ] = None,
    cost: Annotated[
        str | None, typer.Option(metavar="KIND=N,...", help="Default mfence=10,sfence=2,locked=10; a loop is times 10.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="OUT", help="Write the text to OUT.")] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Write the text back to FILE.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print the diff only.")] = False,
    int_bits: IntBits = None,
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
    """Where exactly do fences go, and how few are enough? Each proved to be needed, all together to be enough."""
    from memfence.cli.progress import ProgressLine
    from memfence.diagnostics import InputError
    from memfence.synthesis import fix as run_fix
    from memfence.synthesis.options import FixOptions

    if in_place and output is not None:
        raise typer.BadParameter("use one of --in-place and -o", param_hint="--in-place")
    if in_place and is_standard_input(file):
        raise typer.BadParameter("standard input cannot be written back; use -o", param_hint="--in-place")
    if via is not None and model is not RelaxedModel.pso:
        raise typer.BadParameter("the way over TSO is one to PSO: it goes with --model pso", param_hint="--via")
    refuse_other_models([criterion], model)
    chosen_kinds, costs = _kinds(kinds), _costs(cost)
    progress = ProgressLine(quiet=quiet)
    outputs = Outputs(html, sarif, junit)
    outputs.require_places()
    require_place(atomic, "--atomic")
    require_place(output, "--output")
    try:
        program = _load(file, language, int_bits, split_reads)
        options = FixOptions(
            model=model.value,
            criterion=None if criterion is None else criterion.value,
            deadlock=deadlock,
            define=_definitions(define or []),
            fair=fair,
            buffer_bound=buffer_bound,
            bound_per=bound_per.value,
            engine=engine.value,
            reduce=_reductions(reduce),
            minimise=minimise.value,
            all=every,
            via=None if via is None else "tso",
            kinds=chosen_kinds,
            costs=costs,
            timeout_seconds=timeout,
            memory_megabytes=memory,
            threads=threads,
            progress=progress if progress.active else None,
            **_properties(program, forbid or [], invariant or [], ltl),
        )
        refuse_unused(program, options, typed(context, "fair", "define", "bound_per"))
        if not is_temporal(program, options):
            _refuse_for_fences(typed(context, "atomic", "atomic_waits"))
        else:
            _refuse_for_atomic_writes(typed(context, "every", "html", "sarif", "junit", "via", "kinds"))
            text = file if in_place else output
            if atomic_waits is AtomicWaits.all and (text is not None or diff):
                what = "the mark in a text means a wait for the own process; use --atomic LIST"
                raise typer.BadParameter(what, param_hint="--atomic-waits")
            where = AtomicOutputs(atomic, text, json, quiet, verbose, diff)
            raise typer.Exit(fix_atomic(program, options, atomic_waits.value, where))
        result = run_fix(program, options)
    except InputError as error:
        outputs.write_errors(file, error)
        raise typer.Exit(_refuse(error, json)) from None
    finally:
        progress.close()
    _write_text(result, file if in_place else output)
    _print(result, json, quiet, verbose, diff)
    outputs.write_fix(result)
    raise typer.Exit(_exit_of(result))


def _refuse_for_fences(options: list[str]) -> None:
    for option in options:
        what = "it is about atomic writes, which a temporal property asks for: --ltl, or one that FILE states"
        raise typer.BadParameter(what, param_hint=option)


def _refuse_for_atomic_writes(options: list[str]) -> None:
    for option in options:
        what = "it is about fences, but the property is temporal, and is met by atomic writes"
        raise typer.BadParameter(what, param_hint=option)


def _kinds(text: str | None) -> tuple[EditKind, ...] | None:
    from memfence.synthesis.options import DEFAULT_COSTS

    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    found = tuple(kind for kind in DEFAULT_COSTS if kind in words)
    if not found or len(found) != len(set(words)):
        raise typer.BadParameter(f"`{text}` is not a list of mfence, sfence, locked", param_hint="--kinds")
    return found


def _costs(text: str | None) -> dict[EditKind, int]:
    from memfence.synthesis.options import DEFAULT_COSTS

    costs = dict(DEFAULT_COSTS)
    for part in text.split(",") if text else ():
        name, _, number = (piece.strip() for piece in part.partition("="))
        kind = next((known for known in DEFAULT_COSTS if known == name), None)
        if kind is None or not number.isascii() or not number.isdecimal() or not 0 < int(number) <= 1_000_000:
            raise typer.BadParameter(f"`{part}` is not KIND=N with N from 1 to 1000000", param_hint="--cost")
        costs[kind] = int(number)
    return costs


def _write_text(result: FixResult, path: Path | None) -> None:
    """The proved text only: what is not known to work is not written over what is there."""
    from memfence.synthesis.result import FixVerdict

    if path is None or result.verdict not in (FixVerdict.FIXED, FixVerdict.ALREADY_HOLDS):
        return
    text = result.program.source.text if result.patched is None else result.patched
    write_report(path, result.program.source.marked(text), "--output")


def _print(result: FixResult, json: bool, quiet: bool, verbose: bool, diff: bool) -> None:
    from memfence.cli import terminal
    from memfence.reports.fencing import fix_object, fix_text

    if json:
        from memfence.reports.json import dump

        sys.stdout.write(dump(fix_object(result)))
    elif diff:
        # Only what is proved is for `git apply`.
        sys.stdout.write(result.diff if _exit_of(result) is Exit.HOLDS else "")
    else:
        terminal.write(fix_text(result, width=terminal.width(), quiet=quiet, verbose=verbose))


def _exit_of(result: FixResult) -> Exit:
    codes = {"fixed": Exit.HOLDS, "already_holds": Exit.HOLDS, "impossible": Exit.VIOLATED, "unknown": Exit.UNKNOWN}
    return codes[result.verdict.value]
