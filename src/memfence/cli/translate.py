"""`memfence translate FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from memfence.cli.keywords import keywords_of, understood
from memfence.cli.option_groups import File, Loading
from memfence.cli.refusal import refusing
from memfence.cli.report_files import require_apart, require_place, write_report
from memfence.cli.verb import verb


@verb(example="translate examples/peterson.pml --to dot | dot -Tsvg > peterson.svg")
def translate(
    context: typer.Context,
    file: File,
    to: str,
    loading: Loading,
    store_buffers: bool,
    atomic: Path | None,
    atomic_waits: str,
    instrument: str | None,
    of: str,
    model: str | None,
    replay: Path | None,
    output: Path | None,
) -> None:
    """Write the program for another tool."""
    from memfence.api.translate import translate as ask

    usage = understood(context, files=[file])
    require_place(output, "--output")
    require_apart([("FILE", file), ("--atomic", atomic)], [("--output", output)])
    with refusing(json=False):
        text = ask(file, **keywords_of(usage))
    if output is None:
        sys.stdout.write(text)
    else:
        write_report(output, text, "--output")
