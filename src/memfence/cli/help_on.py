"""`memfence help [COMMAND|CODE]`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from memfence.cli.explain import explain
from memfence.cli.verb import verb


@verb("Help on a command, or on a diagnostic code.", example="help check")
def help(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[COMMAND|CODE]", help="None: all commands.", show_default=False)
    ] = None,
) -> None:
    """Show what `memfence COMMAND --help` or `memfence explain CODE` shows."""
    from memfence.codes import Code
    from memfence.diagnostics import did_you_mean

    above: Any = context.parent
    command = None if name is None else above.command.get_command(above, name)
    if name is None:
        sys.stdout.write(f"{above.get_help()}\n")
    elif command is not None:
        with type(above)(command, info_name=name, parent=above) as inner:
            sys.stdout.write(f"{command.get_help(inner)}\n")
    elif any(code.id == name.upper() for code in Code):
        explain(code=name)
    else:
        near = did_you_mean(name, above.command.list_commands(above), "`memfence help` lists all")
        raise typer.BadParameter(f"there is no command `{name}`; {near}", param_hint="COMMAND")
