"""`memfence check FILE --model LIST`: one verdict for each model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memfence.cli.exit_codes import Exit, exit_of, worst
from memfence.cli.option_groups import MOST
from memfence.cli.refusal import refusing

if TYPE_CHECKING:
    from memfence.cli.option_groups import Reported

WITH_STORE_BUFFERS = ("sc", "tso", "pso")

ModelsOption = Annotated[
    str, typer.Option(metavar="MODEL", help="sc, tso, pso; x86, rc11, armv8, NAME.cat; or a list with commas.")
]
UnrollOption = Annotated[
    int | None,
    typer.Option(metavar="K", min=0, max=MOST, help="For rc11, armv8 and cat files: follow loops K times."),
]


def is_one_with_states(model: str) -> bool:
    """Whether this is one model whose runs can be searched: then there is more to ask, and no bound."""
    return model in WITH_STORE_BUFFERS


def check_models_of(file: Path, model: str, keywords: dict[str, Any], reported: Reported) -> Exit:
    """Check the file under each model, print one table and what it rests on; the exit code is that of the worst."""
    from memfence.api.portable import check_models
    from memfence.cli import terminal
    from memfence.reports.json import dump
    from memfence.reports.portable import portable_object, render_portable

    for option, given in (("--html", reported.html), ("--sarif", reported.sarif), ("--junit", reported.junit)):
        if given is not None:
            raise typer.BadParameter("not for a list of models, nor for rc11, armv8 and cat files", param_hint=option)
    with refusing(reported.json):
        result = check_models(file, model, **keywords)
    if reported.json:
        sys.stdout.write(dump(portable_object(result)))
    else:
        terminal.write(render_portable(result, width=terminal.width(), quiet=reported.quiet))
    return worst(exit_of(answer.verdict) for answer in result.answers)
