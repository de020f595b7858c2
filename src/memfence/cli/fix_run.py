"""`memfence fix --run FILE.c`: fences from executions of the compiled program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memfence.cli.exit_codes import Exit
from memfence.cli.keywords import keywords_of
from memfence.cli.refusal import refusing
from memfence.cli.report_files import write_report

if TYPE_CHECKING:
    from memfence.verbs.usage import Usage

CODES = {
    "fixed": Exit.HOLDS,
    "already_holds": Exit.HOLDS,
    "impossible": Exit.VIOLATED,
    "unknown": Exit.UNKNOWN,
}


def fix_run(file: Path, usage: Usage, output: Path | None) -> typer.Exit:
    """Find the fences, print and write what was asked for."""
    from memfence.api.run import fix_by_running

    json = usage.says("json")
    keywords = {name: value for name, value in keywords_of(usage).items() if name != "model"}
    with refusing(json):
        result = fix_by_running(file, **keywords)
    if output is not None and result.patched is not None:
        write_report(output, result.patched, "--output")
    _print(result, diff=usage.says("diff"), json=json, quiet=usage.says("quiet"))
    return typer.Exit(CODES[result.verdict.value])


def _print(result: Any, *, diff: bool, json: bool, quiet: bool) -> None:
    from memfence.cli import terminal
    from memfence.report.describe.run_fix import run_fix_object, run_fix_text

    if json:
        from memfence.report.formats.json import dump

        sys.stdout.write(dump(run_fix_object(result)))
    elif diff:
        sys.stdout.write(result.diff)
    else:
        terminal.write(run_fix_text(result, width=terminal.width(), quiet=quiet))
