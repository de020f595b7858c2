"""`memfence fix --run FILE.c`: fences from executions of the compiled program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memfence.cli.exit_codes import Exit
from memfence.cli.keywords import keywords_of, without
from memfence.cli.output import Output
from memfence.cli.report_files import write_report

if TYPE_CHECKING:
    from memfence.verbs.usage import Usage

CODES = {
    "fixed": Exit.HOLDS,
    "already_holds": Exit.HOLDS,
    "impossible": Exit.VIOLATED,
    "unknown": Exit.UNKNOWN,
}


def fix_run(file: Path, usage: Usage, output: Path | None, out: Output) -> typer.Exit:
    """Find the fences, print and write what was asked for."""
    from memfence.api.run import fix_by_running
    from memfence.report.described import report_of

    out.require_places([("FILE", file)])
    with out.refusing(file):
        result = fix_by_running(file, **without(keywords_of(usage), "model"))
    if output is not None and result.patched is not None:
        write_report(output, result.patched, "--output")
    report = report_of(result)
    out.show(report, instead=result.diff if usage.says("diff") else None)
    out.write(report)
    return typer.Exit(CODES[result.verdict.value])
