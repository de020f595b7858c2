"""`memfence monitor TRACE`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memfence.cli.exit_codes import exit_of_report
from memfence.cli.output import Output
from memfence.cli.verb import verb


@verb("Check one recorded execution for store-buffer safety.", example="monitor run.jsonl.gz")
def monitor(
    trace: Annotated[
        str,
        typer.Argument(metavar="TRACE", help="JSON lines, gzip accepted; - reads standard input.", show_default=False),
    ],
    out: Output,
) -> None:
    """Could this recorded SC execution have gone another way on hardware with store buffers?"""
    from memfence.api.monitor import monitor as ask
    from memfence.report.described import report_of

    out.require_places([("TRACE", Path(trace))])
    with out.refusing(trace):
        result = ask(trace)
    out.publish(report := report_of(result))
    raise typer.Exit(exit_of_report(report))
