"""`memfence explain CODE`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from memfence.cli.completion import codes
from memfence.cli.verb import verb


@verb("Explain a diagnostic code.", example="explain MF101")
def explain(
    code: Annotated[
        str | None, typer.Argument(metavar="[CODE]", help="A code such as MF101; none lists all.", autocompletion=codes)
    ] = None,
) -> None:
    """Explain a diagnostic code, with an example."""
    from memfence.codes import Code
    from memfence.explanations import explanation

    if code is None:
        sys.stdout.write("".join(f"{known.id}  {known.summary}\n" for known in Code))
        return
    found = next((known for known in Code if known.id == code.upper()), None)
    if found is None:
        raise typer.BadParameter(f"there is no code {code}; `memfence explain` lists all", param_hint="CODE")
    sys.stdout.write(f"{found.id}: {found.summary}\n\n{explanation(found)}")
