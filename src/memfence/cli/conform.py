"""`memfence conform FILES`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memfence.cli.exit_codes import exit_of_report
from memfence.cli.output import Output
from memfence.cli.report_files import writing
from memfence.cli.verb import verb


@verb("Does this processor stay within the model?", example="conform tests/ --seconds 0.5")
def conform(
    files: Annotated[list[Path], typer.Argument(metavar="FILE|DIR...", help="Litmus tests.", show_default=False)],
    seconds: float,
    timeout: float,
    seed: int,
    emit: Path | None,
    plain: bool,
    out: Output,
) -> None:
    """Run litmus tests on the processor at hand, and compare the outcomes with those that SC and TSO allow.

    Exit code 1: an outcome is outside TSO; 4: no test could be run, or there is only one processor.
    """
    from memfence.api.silicon import StressOptions
    from memfence.api.silicon import conform as ask
    from memfence.report.describe.hardware import conformance_report

    stress = StressOptions(seconds=seconds, seed=seed, emit=emit, plain=plain)
    found = []
    out.require_places([("FILE", file) for file in files])
    with out.refusing(files[0]), writing("--emit"):
        for one in ask(files, stress, timeout_seconds=timeout):
            found.append(one)
            if not out.quiet and sys.stderr.isatty():
                sys.stderr.write(f"\r{len(found)} tests: {one.path.name:40.40}")
    out.publish(report := conformance_report(found))
    raise typer.Exit(exit_of_report(report))
