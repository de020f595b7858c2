"""`memfence ui [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memfence.cli.exit_codes import Exit
from memfence.cli.refusal import refusing
from memfence.cli.verb import verb


@verb("Edit, check, fix and simulate in a browser.", example="ui examples/peterson.pml")
def ui(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="The program to begin with.")] = None,
    *,
    port: int,
    folder: Path | None,
    show: bool,
) -> None:
    """A page to edit, check, fix and simulate programs. Only this machine can reach it, and it reaches nobody."""
    try:
        from memfence.server.ui.page import serve
        from memfence.server.ui.this_machine import new_token
    except ImportError as missing:
        sys.stderr.write(f"memfence ui needs {missing.name}: pip install nicegui\n")
        raise typer.Exit(Exit.USAGE) from None
    from memfence.api.examples import examples_folder
    from memfence.pipeline import read_source

    with refusing(json=False):
        if file is not None:
            read_source(file)
    chosen = folder or (file.parent if file is not None else examples_folder())
    if not chosen.is_dir():
        raise typer.BadParameter(f"there is no folder `{chosen}`", param_hint="--folder")
    _require_port(port)
    token = new_token()
    sys.stderr.write(f"memfence ui: http://localhost:{port}/{token}/ (Ctrl-C ends it)\n")
    try:
        serve(chosen, file, port, token, show=show)
    except KeyboardInterrupt:
        sys.stderr.write("memfence ui: ended\n")


def _require_port(port: int) -> None:
    """Refuse a port that somebody else listens at, before anything is said about where the page is."""
    import socket

    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError as problem:
            raise typer.BadParameter(f"cannot use port {port}: {problem.strerror}", param_hint="--port") from None
