"""Input that cannot be used, and options that make no sense: what is said, and the exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from memfence.cli.exit_codes import Exit
from memfence.cli.interruption import report_interruption
from memfence.cli.progress import close_progress
from memfence.verbs.options import OPTIONS

if TYPE_CHECKING:
    from memfence.diagnostics import InputError


POSITIONS = {"line": "FILE:LINE", "also": "FILE..."}
"""What is no option on the command line."""


@contextmanager
def refusing(json: bool) -> Iterator[None]:
    """Bad input inside ends with its diagnostics and exit code 3, wrong usage with exit code 2, and a time that is up
    before there is anything to report with exit code 4."""
    from memfence.deadline import TimeUp
    from memfence.diagnostics import InputError
    from memfence.tasks.usage import WrongUsage

    try:
        yield
    except WrongUsage as wrong:
        close_progress()
        raise typer.BadParameter(wrong.problem, param_hint=wrong.typed or _as_typed(wrong.option)) from None
    except TimeUp as up:
        raise typer.Exit(report_interruption(limit=f"timeout {up.seconds:g} s")) from None
    except InputError as error:
        raise typer.Exit(refuse(error, json)) from None


def _as_typed(option: str) -> str:
    """The keyword of Python's API as the command line knows it."""
    if option in POSITIONS:
        return POSITIONS[option]
    known = (row.typed for row in OPTIONS if row.in_python == option)
    return next(known, f"--{option.replace('_', '-')}")


def refuse(error: InputError, json: bool) -> Exit:
    """Say what is wrong with the input: coded diagnostics on stderr, or the JSON object on stdout."""
    if json:
        from memfence.report.describe.check_data import error_object
        from memfence.report.formats.json import dump

        sys.stdout.write(dump(error_object(error)))
    else:
        from memfence.cli import terminal
        from memfence.diagnostics import render

        terminal.write(render(error.diagnostics), sys.stderr)
    return Exit.BAD_INPUT
