"""`memfence fix FILE`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memfence.cli.exit_codes import Exit, exit_of_fix
from memfence.cli.keywords import keywords_of, understood
from memfence.cli.option_groups import Deciding, File
from memfence.cli.order_fix import fix_models_of
from memfence.cli.output import Output
from memfence.cli.progress import ProgressLine
from memfence.cli.report_files import write_report
from memfence.cli.several import files_of, fix_several
from memfence.cli.verb import verb
from memfence.verbs.models import is_answered_by_states

if TYPE_CHECKING:
    from memfence.frontends.frontend import EditKind
    from memfence.synthesis.atomic_writes import AtomicFix
    from memfence.synthesis.result import FixResult


@verb("Where do fences go, and how few are enough?", example="fix examples/lost_wakeup.pml --model tso")
def fix(
    context: typer.Context,
    file: File,
    deciding: Deciding,
    out: Output,
    model: str,
    unroll: int | None,
    criterion: str | None,
    abstract: int | None,
    atomic: Path | None,
    atomic_waits: str,
    minimise: str,
    every: bool,
    via: str | None,
    kinds: str | None,
    style: str,
    cost: str | None,
    output: Path | None,
    in_place: bool,
    diff: bool,
    bench: str | None,
    run: bool,
    cluster: str | None,
) -> None:
    """Where exactly do fences go, and how few are enough? Each proved to be needed, all together to be enough."""
    from memfence.api.fix import fix as ask
    from memfence.api.fix import fix_diff
    from memfence.cli.certifying import certify_patch, write_proof
    from memfence.report.described import report_of

    everything, several = files_of(file, deciding)
    usage = understood(context, models=model, files=everything, several=several)
    place = file if in_place else output
    if run:
        from memfence.cli.fix_run import fix_run

        raise fix_run(file, usage, place, out)
    if bench is not None:
        raise _bench(file, bench, out)
    progress = ProgressLine(quiet=out.quiet)
    keywords, named = keywords_of(usage, progress) | _edits(kinds, cost), ""
    if not is_answered_by_states(usage.models):
        done = fix_models_of(file, usage, keywords, out, output=output, in_place=in_place)
        if done is not None:
            raise typer.Exit(done)
        keywords, named = keywords | {"model": "tso"}, usage.models[0]
    if several:
        raise typer.Exit(fix_several(everything, keywords, out))
    out.require_places([("FILE", file)], [("--atomic", atomic), ("--output", _file_of(output))])
    keywords |= _list_of(atomic)
    with progress, out.refusing(file):
        result = ask(file, **keywords, given=usage.said)
    result = replace(result, asked_model=named) if named else result
    _write(result, atomic, output, in_place=in_place)
    # Only what is proved is for `git apply`.
    shown = (fix_diff(result) if exit_of_fix(result.verdict) is Exit.HOLDS else "") if diff else None
    out.show(report_of(result), instead=shown)
    proof = certify_patch(result, deciding.certifying, keywords)
    out.write(report_of(result, *([] if proof is None else [proof])))
    code = exit_of_fix(result.verdict, is_bounded=result.is_bounded)
    raise typer.Exit(write_proof(proof, quiet=out.quiet or not out.is_text or diff) or code)


def _bench(file: Path, command: str, out: Output) -> typer.Exit:
    """The table of times; all that is asked about the program is what it states."""
    from memfence.api.silicon import bench_fixes
    from memfence.report.describe.hardware import bench_report

    out.require_places([("FILE", file)])
    with out.refusing(file):
        timed = bench_fixes(file, command)
    out.publish(bench_report(str(file), timed))
    return typer.Exit(Exit.HOLDS if not any(one.code for one in timed) else Exit.BAD_INPUT)


def _list_of(atomic: Path | None) -> dict[str, Any]:
    """A list that exists already is where to start from."""
    return {} if atomic is None else {"atomic": str(atomic) if atomic.exists() else ()}


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


def _file_of(output: Path | None) -> Path | None:
    """The file that is written; none where it is a folder for several."""
    return None if output is None or output.is_dir() else output


def _write(result: FixResult | AtomicFix, atomic: Path | None, output: Path | None, *, in_place: bool) -> None:
    """What is proved only: what is not known to work is not written over what is there."""
    from memfence.api.fix import atomic_list, fixed_files
    from memfence.cli.patched_files import write_patched

    if exit_of_fix(result.verdict) is not Exit.HOLDS:
        return
    writes = atomic_list(result)
    if atomic is not None and writes is not None:
        write_report(atomic, writes, "--atomic")
    write_patched(fixed_files(result), output, in_place=in_place)
