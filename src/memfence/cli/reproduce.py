"""`memfence reproduce FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memfence.cli.choices import RelaxedModel
from memfence.cli.exit_codes import Exit
from memfence.cli.keywords import keywords_of
from memfence.cli.option_groups import AboutStates, File, JsonOption, QuietOption
from memfence.cli.progress import ProgressLine
from memfence.cli.refusal import refusing
from memfence.cli.verb import verb

EmitOption = Annotated[
    Path | None, typer.Option("--emit", metavar="DIR", help="Keep the C program that was run in DIR.")
]
SeedOption = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of random orders and delays.")]


@verb("See a violation happen on this processor.", example="reproduce examples/lost_wakeup.pml --seconds 2")
def reproduce(
    context: typer.Context,
    file: File,
    asked: AboutStates,
    model: Annotated[RelaxedModel, typer.Option(help="The model that finds what to look for.")] = RelaxedModel.tso,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", min=0.01, help="How long to look: 10 s, or until --runs are done.")
    ] = None,
    runs: Annotated[int, typer.Option(metavar="N", min=0, help="Stop after N rounds; 0: any number.")] = 0,
    seed: SeedOption = 1,
    emit: EmitOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Look for the violation on the processor at hand: a small C program, run under stress, counts the outcomes.

    Exit code 1: it was seen; 4: it was not, which proves nothing; 0: the model does not allow it.
    """
    from memfence.api.silicon import StressOptions
    from memfence.api.silicon import reproduce as ask
    from memfence.cli import terminal
    from memfence.reports.json import dump
    from memfence.reports.silicon import reproduction_object, reproduction_text

    progress = ProgressLine(quiet=quiet)
    keywords = keywords_of(context, progress, but=("seconds", "runs", "seed", "emit"))
    try:
        with refusing(json):
            found = ask(file, StressOptions(seconds, runs, seed, emit), **keywords)
    finally:
        progress.close()
    if json:
        sys.stdout.write(dump(reproduction_object(found)))
    else:
        terminal.write(reproduction_text(found, width=terminal.width(), quiet=quiet))
    codes = {"seen": Exit.VIOLATED, "not_seen": Exit.UNKNOWN, "holds": Exit.HOLDS, "unknown": Exit.UNKNOWN}
    raise typer.Exit(codes[found.verdict.value])
