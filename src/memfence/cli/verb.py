"""A verb of the command line: its line in the list of commands, an example, and its options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from memfence.cli.app import app
from memfence.cli.help import Command
from memfence.cli.spelling import Called, spelled_out


def verb(
    summary: str | None = None, *, example: str, of: typer.Typer = app, **settings: Any
) -> Callable[[Called], Called]:
    """Add a command; without a summary, the first line of its docstring is one. `settings` are those of typer.

    `of`: another list of commands, whose names begin with that of the list.
    """

    def added(command: Called) -> Called:
        given = {"cls": Command, **settings}
        name = settings.get("name") or command.__name__
        path = name if of is app else f"{of.info.name} {name}"
        shown = of.command(short_help=summary, epilog=f"Example: memfence {example}", **given)
        return shown(spelled_out(command, path))

    return added
