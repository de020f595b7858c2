"""`memfence translate FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memfence.cli.choices import AtomicWaits, Instrument, Model, Subject, Target
from memfence.cli.keywords import keywords_of, typed
from memfence.cli.option_groups import AtomicWaitsOption, File, Loading
from memfence.cli.progress import ProgressLine
from memfence.cli.refusal import refusing
from memfence.cli.report_files import require_apart, require_place, write_report
from memfence.cli.verb import verb


@verb(example="translate examples/peterson.pml --to dot | dot -Tsvg > peterson.svg")
def translate(
    context: typer.Context,
    file: File,
    to: Annotated[
        Target,
        typer.Option(
            "--to", help="Promela with the SC meaning, DVE with --store-buffers (from a DVE model), or a drawing."
        ),
    ],
    loading: Loading,
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
    of: Annotated[
        Subject,
        typer.Option("--of", help="What a drawing shows: the program, its states (if few), or the run of --replay."),
    ] = Subject.program,
    model: Annotated[Model | None, typer.Option(help="With --of states: drawn over those of SC. Default: tso.")] = None,
    replay: Annotated[
        Path | None, typer.Option(metavar="SCHEDULE", help="With --of run: a saved schedule, drawn as a chart.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="OUT", help="Write to OUT.")] = None,
) -> None:
    """Write the program for another tool."""
    from memfence.api.translate import translate as ask

    require_place(output, "--output")
    require_apart([("FILE", file), ("--atomic", atomic)], [("--output", output)])
    if "atomic_waits" in typed(context) and not store_buffers:
        raise typer.BadParameter("it goes with --store-buffers", param_hint="--atomic-waits")
    with refusing(json=False):
        text = ask(file, **keywords_of(context, ProgressLine(quiet=True), but=("output",)))
    if output is None:
        sys.stdout.write(text)
    else:
        write_report(output, text, "--output")
