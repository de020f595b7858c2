"""`memfence monitor TRACE`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from memfence.cli.commands import _refuse
from memfence.cli.exit_codes import exit_of
from memfence.cli.outputs import HtmlOption, Outputs


def monitor(
    trace: Annotated[
        str,
        typer.Argument(metavar="TRACE", help="JSON lines, gzip accepted; - reads standard input.", show_default=False),
    ],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    html: HtmlOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the verdict only.")] = False,
) -> None:
    """Could this recorded SC execution have gone another way on hardware with store buffers?"""
    from memfence.cli import terminal
    from memfence.diagnostics import InputError
    from memfence.questions.monitor import monitor as run_monitor
    from memfence.reports.monitoring import monitor_object, monitor_text

    outputs = Outputs(html)
    outputs.require_places()
    try:
        result = run_monitor(trace)
    except InputError as error:
        raise typer.Exit(_refuse(error, json)) from None
    if json:
        from memfence.reports.json import dump

        sys.stdout.write(dump(monitor_object(result)))
    else:
        terminal.write(monitor_text(result, quiet=quiet))
    outputs.write_monitor(result)
    raise typer.Exit(exit_of(result.verdict))
