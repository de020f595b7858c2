"""`memfence monitor TRACE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memfence.cli.exit_codes import exit_of
from memfence.cli.refusal import refusing
from memfence.cli.report_files import ReportFiles
from memfence.cli.verb import verb


@verb("Check one recorded execution for store-buffer safety.", example="monitor run.jsonl.gz")
def monitor(
    trace: Annotated[
        str,
        typer.Argument(metavar="TRACE", help="JSON lines, gzip accepted; - reads standard input.", show_default=False),
    ],
    json: bool,
    html: Path | None,
    quiet: bool,
) -> None:
    """Could this recorded SC execution have gone another way on hardware with store buffers?"""
    from memfence.api.monitor import monitor as ask
    from memfence.cli import terminal
    from memfence.report.describe.monitor_text import monitor_object, monitor_text

    files = ReportFiles(html)
    files.require_places([("TRACE", Path(trace))])
    with refusing(json):
        result = ask(trace)
    if json:
        from memfence.report.formats.json import dump

        sys.stdout.write(dump(monitor_object(result)))
    else:
        terminal.write(monitor_text(result, quiet=quiet))
    files.write_monitor(result)
    raise typer.Exit(exit_of(result.verdict))
