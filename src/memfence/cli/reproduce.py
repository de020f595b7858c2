"""`memfence reproduce FILE`."""

from __future__ import annotations

from pathlib import Path

import typer

from memfence.cli.exit_codes import exit_of_report
from memfence.cli.keywords import keywords_of, understood
from memfence.cli.option_groups import AboutStates, File
from memfence.cli.output import Output
from memfence.cli.progress import ProgressLine
from memfence.cli.report_files import writing
from memfence.cli.verb import verb


@verb("See a violation happen on this processor.", example="reproduce examples/lost_wakeup.pml --seconds 2")
def reproduce(
    context: typer.Context,
    file: File,
    asked: AboutStates,
    model: str,
    seconds: float | None,
    runs: int,
    seed: int,
    emit: Path | None,
    out: Output,
) -> None:
    """Look for the violation on the processor at hand: a small C program, run under stress, counts the outcomes.

    Exit code 1: it was seen; 4: it was not, which proves nothing; 0: the model does not allow it.
    """
    from memfence.api.silicon import StressOptions
    from memfence.api.silicon import reproduce as ask
    from memfence.report.describe.hardware import reproduction_report

    usage = understood(context, models=model, files=[file, *(asked.compiling.also or ())])
    out.require_places([("FILE", file)])
    progress = ProgressLine(quiet=out.quiet)
    keywords = keywords_of(usage, progress)
    with progress, out.refusing(file), writing("--emit"):
        found = ask(file, StressOptions(seconds, runs, seed, emit), **keywords)
    out.publish(report := reproduction_report(found))
    raise typer.Exit(exit_of_report(report))
