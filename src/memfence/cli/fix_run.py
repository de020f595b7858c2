"""`memfence fix --run FILE.c`: fences from executions of the compiled program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from memfence.cli.exit_codes import Exit
from memfence.cli.refusal import refusing
from memfence.cli.report_files import write_report

CODES = {
    "fixed": Exit.HOLDS,
    "already_holds": Exit.HOLDS,
    "impossible": Exit.VIOLATED,
    "unknown": Exit.UNKNOWN,
}
UNDERSTOOD = {
    "file", "run", "macros", "include", "std", "timeout", "output", "in_place", "diff", "json", "quiet", "model",
}  # fmt: skip


def fix_run(
    file: Path, given: dict[str, Any], output: Path | None, *, diff: bool, json: bool, quiet: bool
) -> typer.Exit:
    """Find the fences, print and write what was asked for. `given`: the options that were typed."""
    from memfence.api.run import fix_by_running

    for name in given:
        if name not in UNDERSTOOD or (name == "model" and given[name] != "tso"):
            raise typer.BadParameter("it has no meaning together with --run", param_hint=f"--{name.replace('_', '-')}")
    keywords: dict[str, Any] = {name: tuple(given[name]) for name in ("macros", "include") if name in given}
    with refusing(json):
        result = fix_by_running(file, **keywords, std=given.get("std"), timeout_seconds=given.get("timeout"))
    if output is not None and result.patched is not None:
        write_report(output, result.patched, "--output")
    _print(result, diff=diff, json=json, quiet=quiet)
    return typer.Exit(CODES[result.verdict.value])


def _print(result: Any, *, diff: bool, json: bool, quiet: bool) -> None:
    from memfence.cli import terminal
    from memfence.reports.running_fix import run_fix_object, run_fix_text

    if json:
        from memfence.reports.json import dump

        sys.stdout.write(dump(run_fix_object(result)))
    elif diff:
        sys.stdout.write(result.diff)
    else:
        terminal.write(run_fix_text(result, width=terminal.width(), quiet=quiet))
