"""`memfence relax FILE`."""

from __future__ import annotations

from pathlib import Path

import typer

from memfence.cli.exit_codes import Exit
from memfence.cli.keywords import keywords_of, understood, without
from memfence.cli.option_groups import AboutStates, File
from memfence.cli.output import Output
from memfence.cli.verb import verb


@verb("Which orders are stronger than they have to be?", example="relax YOUR.c --diff")
def relax(
    context: typer.Context,
    file: File,
    asked: AboutStates,
    model: str,
    unroll: int | None,
    keep: list[int] | None,
    output: Path | None,
    in_place: bool,
    diff: bool,
    out: Output,
) -> None:
    """The cheapest memory orders for which the program works under every model, proved, with the run that forbids each
    further weakening. C and C++; it adds no fence, and removes those that nothing needs.

    Exit code 0: cheaper orders were found and proved, or those of FILE are the cheapest; 1: the strongest ones are
    not enough; 4: not known, or known up to a bound on loops only. The time limit holds for each question.
    """
    from memfence.api.fix import fixed_files
    from memfence.api.relax import relax as ask
    from memfence.cli.patched_files import write_patched
    from memfence.report.described import report_of

    usage = understood(context, models=model, files=[file, *(asked.compiling.also or ())])
    place = None if output is None or output.is_dir() else output
    out.require_places([("FILE", file)], [("--output", place)])
    keywords = without(without(keywords_of(usage), "model"), "unroll")
    with out.refusing(file):
        result = ask(file, usage.models, keep=keep or (), unroll=unroll, given=usage.said, **without(keywords, "keep"))
    is_written = result.is_written
    out.show(report := report_of(result), instead=(result.diff if is_written else "") if diff else None)
    out.write(report)
    if is_written:
        write_patched(fixed_files(result), output, in_place=in_place)
    codes = {
        "relaxed": Exit.HOLDS,
        "fixed": Exit.HOLDS,
        "minimal": Exit.HOLDS,
        "violated": Exit.VIOLATED,
        "unknown": Exit.UNKNOWN,
    }
    code = codes[result.verdict]
    raise typer.Exit(Exit.UNKNOWN if code is Exit.HOLDS and result.is_bounded else code)
