"""`memfence lsp`."""

from __future__ import annotations

import sys

import typer

from memfence.cli.exit_codes import Exit, HandedOn
from memfence.cli.verb import verb


@verb("Answer an editor: mistakes, values, fences.", example="lsp")
def lsp() -> None:
    """Speak the Language Server Protocol on standard input and output. Editors start this by themselves."""
    try:
        from memfence.server.lsp.server import make_server
    except ImportError as missing:
        sys.stderr.write(f"memfence lsp needs {missing.name}: pip install 'pygls>=2'\n")
        raise typer.Exit(Exit.USAGE) from None
    try:
        make_server().start_io()
    except SystemExit as ended:  # as the protocol says: 1 where an editor leaves without saying so first
        raise typer.Exit(HandedOn(ended.code if isinstance(ended.code, int) else 0)) from None
