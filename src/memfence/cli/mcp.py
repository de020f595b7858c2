"""`memfence mcp`."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from memfence.cli.exit_codes import Exit
from memfence.cli.verb import verb


@verb("Answer an assistant: tools that prove.", example="mcp")
def mcp() -> None:
    """Speak the Model Context Protocol on standard input and output: check, why, fix, compare, relax and explain as
    tools. Assistants start this by themselves, in the folder whose files they may ask about."""
    try:
        from memfence.server.mcp.server import serve
    except ImportError as missing:
        sys.stderr.write(f"memfence mcp needs {missing.name}: pip install 'mcp>=2'\n")
        raise typer.Exit(Exit.USAGE) from None
    import asyncio

    asyncio.run(serve(Path.cwd()))
