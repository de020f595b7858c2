"""`memfence check FILE --model LIST`: one verdict for each model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memfence.cli.exit_codes import Exit, exit_of, worst
from memfence.cli.option_groups import MOST
from memfence.cli.refusal import refusing
from memfence.cli.report_files import ReportFiles

if TYPE_CHECKING:
    from memfence.cli.option_groups import Reported

WITH_STORE_BUFFERS = ("sc", "tso", "pso")
ALL_MODELS = (*WITH_STORE_BUFFERS, "x86", "rc11", "armv8")


def completed_models(typed: str) -> list[str]:
    """What the shell offers: the models that are not in the list yet."""
    *before, last = typed.split(",")
    names = [name for name in ALL_MODELS if name.startswith(last) and name not in before]
    return [",".join([*before, name]) for name in names]


ModelsOption = Annotated[
    str,
    typer.Option(
        metavar="MODEL",
        help="sc, tso, pso; x86, rc11, armv8, NAME.cat; or a list with commas.",
        autocompletion=completed_models,
    ),
]
UnrollOption = Annotated[
    int | None,
    typer.Option(metavar="K", min=0, max=MOST, help="For rc11, armv8 and cat files: follow loops K times."),
]


def is_one_with_states(model: str) -> bool:
    """Whether this is one model whose runs can be searched: then there is more to ask, and no bound."""
    return model in WITH_STORE_BUFFERS


def check_models_of(file: Path, model: str, keywords: dict[str, Any], reported: Reported, *, strict: bool) -> Exit:
    """Check the file under each model, print one table and what it rests on; the exit code is that of the worst.

    `strict`: a warning makes it 1."""
    from memfence.api.portable import check_models
    from memfence.cli import terminal
    from memfence.diagnostics import render
    from memfence.reports.doubts import portable_warnings
    from memfence.reports.json import dump
    from memfence.reports.portable import portable_object, render_portable

    for option, given in (("--sarif", reported.sarif), ("--junit", reported.junit)):
        if given is not None:
            raise typer.BadParameter("not for a list of models, nor for rc11, armv8 and cat files", param_hint=option)
    files = ReportFiles(reported.html)
    files.require_places([("FILE", file)])
    with refusing(reported.json):
        result = check_models(file, model, **keywords)
    warnings = portable_warnings(result)
    if reported.json:
        sys.stdout.write(dump(portable_object(result)))
    else:
        if warnings and not reported.quiet:
            terminal.write(render(warnings) + "\n", sys.stderr)
        terminal.write(render_portable(result, width=terminal.width(), quiet=reported.quiet))
    files.write_models(result)
    return worst(exit_of(answer.verdict, is_doubtful=strict and bool(warnings)) for answer in result.answers)
