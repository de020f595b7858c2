"""`memfence fix FILE`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memfence.cli.choices import AtomicWaits, Minimise, Style, Via
from memfence.cli.exit_codes import Exit, exit_of_fix
from memfence.cli.keywords import keywords_of, typed
from memfence.cli.option_groups import AtomicWaitsOption, CriterionOption, Deciding, File, Reported
from memfence.cli.order_fix import NOT_FOR_ORDERS, fix_models_of
from memfence.cli.portable import UnrollOption, is_one_with_states
from memfence.cli.progress import ProgressLine
from memfence.cli.refusal import refusing
from memfence.cli.report_files import ReportFiles, write_report
from memfence.cli.several import are_programs, fix_several
from memfence.cli.verb import verb

if TYPE_CHECKING:
    from memfence.frontends.registry import EditKind
    from memfence.synthesis.atomic_writes import AtomicFix
    from memfence.synthesis.result import FixResult

LEFT_OUT = ("atomic", "output", "in_place", "diff", "bench", "kinds", "cost", "certificate", "verify")
"""What only the command line has, or reads for itself."""


@verb("Where do fences go, and how few are enough?", example="fix examples/lost_wakeup.pml --model tso")
def fix(
    context: typer.Context,
    file: File,
    deciding: Deciding,
    model: Annotated[
        str,
        typer.Option(metavar="MODEL", help="tso, pso; x86, rc11, armv8, NAME.cat or a list: orders in C."),
    ] = "tso",
    unroll: UnrollOption = None,
    criterion: CriterionOption = None,
    atomic: Annotated[
        Path | None, typer.Option("--atomic", metavar="LIST", help="With --ltl: atomic writes, read and written.")
    ] = None,
    atomic_waits: AtomicWaitsOption = AtomicWaits.own,
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
    style: Annotated[
        Style, typer.Option(help="C: write C11 fences, make atomic stores seq_cst where possible, or write assembly.")
    ] = Style.fence,
    cost: Annotated[
        str | None,
        typer.Option(
            "--cost",
            "--costs",
            metavar="KIND=N,...|measured",
            help="Default mfence=10,sfence=2,locked=10; a loop is times 10. measured: as on this processor.",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="OUT", help="Write the text to OUT.")] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Write the text back to FILE.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print the diff only.")] = False,
    bench: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="C: time every way to write the fix with CMD, where {} is the file."),
    ] = None,
    run: Annotated[
        bool, typer.Option("--run", help="C: run the compiled program, and fence its borderline executions.")
    ] = False,
) -> None:
    """Where exactly do fences go, and how few are enough? Each proved to be needed, all together to be enough."""
    from memfence.api.fix import fix as ask
    from memfence.cli.certifying import certify_patch, write_proof

    reported, compiling = deciding.reported, deciding.compiling
    if in_place and output is not None:
        raise typer.BadParameter("use one of --in-place and -o", param_hint="--in-place")
    if in_place and str(file) == "-":
        raise typer.BadParameter("standard input cannot be written back; use -o", param_hint="--in-place")
    place = file if in_place else output
    if run:
        from memfence.cli.fix_run import fix_run

        raise fix_run(file, typed(context), place, diff=diff, json=reported.json, quiet=reported.quiet)
    if bench is not None:
        raise _bench(file, bench, reported, typed(context))
    progress = ProgressLine(quiet=reported.quiet)
    if model == "sc":
        raise typer.BadParameter("under sc no fence does anything", param_hint="--model")
    if not is_one_with_states(model):
        said = typed(context)
        keywords = keywords_of(context, progress, but=(*LEFT_OUT, *NOT_FOR_ORDERS, "model"))
        raise typer.Exit(fix_models_of(file, model, keywords, said, reported, place=place))
    if unroll is not None:
        raise typer.BadParameter("tso and pso need no bound on loops", param_hint="--unroll")
    if are_programs(file, compiling.also or ()):
        several = [file, *map(Path, compiling.also or ())]
        with refusing(reported.json):
            keywords = keywords_of(context, progress, but=(*LEFT_OUT, "also")) | _edits(kinds, cost)
            raise typer.Exit(fix_several(several, keywords, reported, set(typed(context))))
    files = ReportFiles(reported.html, reported.sarif, reported.junit)
    read = [("FILE", file)]
    files.require_places(read, [("--atomic", atomic), ("--output", output)])
    keywords = keywords_of(context, progress, but=LEFT_OUT)
    given = {"html", "sarif", "junit", "atomic", "atomic_waits"} & set(typed(context))
    try:
        with refusing(reported.json, file, files):
            known = _list_of(atomic)
            result = ask(file, **keywords, **_edits(kinds, cost), **known, given=given)
    finally:
        progress.close()
    _write(result, atomic, place)
    _print(result, reported, diff)
    proof = certify_patch(result, deciding.certifying, keywords)
    files.write_fix(result, proof)
    raise typer.Exit(write_proof(proof, quiet=reported.quiet or reported.json or diff) or exit_of_fix(result.verdict))


def _bench(file: Path, command: str, reported: Reported, said: Iterable[str]) -> typer.Exit:
    """The table of times; all that is asked about the program is what it states."""
    from memfence.api.silicon import bench_fixes
    from memfence.cli import terminal
    from memfence.reports.json import dump
    from memfence.reports.silicon import bench_object, bench_text

    others = sorted(set(said) - {"bench", "json", "quiet", "file"})
    if others:
        raise typer.BadParameter(f"--{others[0].replace('_', '-')} does not go with it", param_hint="--bench")
    with refusing(reported.json):
        timed = bench_fixes(file, command)
    if reported.json:
        sys.stdout.write(dump(bench_object(str(file), timed)))
    else:
        terminal.write(bench_text(str(file), timed, width=terminal.width()))
    return typer.Exit(Exit.HOLDS if not any(one.code for one in timed) else Exit.BAD_INPUT)


def _list_of(atomic: Path | None) -> dict[str, Any]:
    """A list that exists already is where to start from."""
    return {} if atomic is None or not atomic.exists() else {"atomic": str(atomic)}


def _edits(kinds: str | None, cost: str | None) -> dict[str, Any]:
    return {
        **({} if kinds is None else {"kinds": _kinds(kinds)}),
        **({} if cost is None else {"costs": _costs(cost)}),
    }


def _kinds(text: str) -> tuple[EditKind, ...]:
    from memfence.synthesis.options import DEFAULT_COSTS

    words = [word.strip() for word in text.split(",")]
    found = tuple(kind for kind in DEFAULT_COSTS if kind in words)
    if not found or len(found) != len(set(words)):
        raise typer.BadParameter(f"`{text}` is not a list of mfence, sfence, locked", param_hint="--kinds")
    return found


def _costs(text: str) -> dict[EditKind, int]:
    from memfence.synthesis.options import DEFAULT_COSTS

    if text == "measured":
        from memfence.api.silicon import measured_costs

        return measured_costs()

    costs = dict(DEFAULT_COSTS)
    for part in text.split(","):
        name, _, number = (piece.strip() for piece in part.partition("="))
        kind = next((known for known in DEFAULT_COSTS if known == name), None)
        if kind is None or not number.isascii() or not number.isdecimal() or not 0 < int(number) <= 1_000_000:
            raise typer.BadParameter(f"`{part}` is not KIND=N with N from 1 to 1000000", param_hint="--cost")
        costs[kind] = int(number)
    return costs


def _write(result: FixResult | AtomicFix, atomic: Path | None, text: Path | None) -> None:
    """What is proved only: what is not known to work is not written over what is there."""
    from memfence.reports.fix_files import atomic_list, fixed_text
    from memfence.synthesis.atomic_writes import AtomicFix

    if exit_of_fix(result.verdict) is not Exit.HOLDS:
        return
    if atomic is not None and isinstance(result, AtomicFix):
        write_report(atomic, atomic_list(result), "--atomic")
    if text is not None:
        write_report(text, fixed_text(result), "--output")


def _print(result: FixResult | AtomicFix, reported: Reported, diff: bool) -> None:
    from memfence.cli import terminal
    from memfence.reports.fix_files import fix_diff, fix_report_object, fix_report_text

    if reported.json:
        from memfence.reports.json import dump

        sys.stdout.write(dump(fix_report_object(result)))
    elif diff:
        # Only what is proved is for `git apply`.
        sys.stdout.write(fix_diff(result) if exit_of_fix(result.verdict) is Exit.HOLDS else "")
    else:
        width = terminal.width()
        terminal.write(fix_report_text(result, width=width, quiet=reported.quiet, verbose=reported.verbose))
