"""`memfence why FILE[:LINE]`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memfence.cli.exit_codes import Exit, exit_of_why
from memfence.cli.keywords import keywords_of, understood
from memfence.cli.option_groups import AboutStates
from memfence.cli.order_fix import why_models_of
from memfence.cli.output import Output
from memfence.cli.progress import ProgressLine
from memfence.cli.verb import verb
from memfence.verbs.models import is_answered_by_states

if TYPE_CHECKING:
    from memfence.synthesis.necessity import WhyResult


@verb("Is this fence needed?", example="why fixed.pml:14")
def why(
    context: typer.Context,
    place: Annotated[
        str,
        typer.Argument(
            metavar="FILE[:LINE]", help="The program (-: standard input), or a fence of it.", show_default=False
        ),
    ],
    asked: AboutStates,
    model: str,
    unroll: int | None,
    criterion: list[str] | None,
    ltl: str | None,
    deadlock: bool,
    out: Output,
) -> None:
    """Is this fence needed? The run that appears without it, or a proof that there is none.

    In C, the same for each seq_cst access and each locked operation: which could be weaker on x86? With a model that
    has no states, or a list of models: which memory order could be weaker under all of them?

    Exit code 0: every fence asked about is needed; 1: some are not; 4: some are not known to be.
    """
    from memfence.api.why import why as ask
    from memfence.report.described import report_of

    file, line = _split(place)
    usage = understood(context, models=model, files=[file, *(asked.compiling.also or ())])
    out.require_places([("FILE", file)])
    progress = ProgressLine(quiet=out.quiet)
    keywords = keywords_of(usage, progress)
    if not is_answered_by_states(usage.models):
        raise typer.Exit(why_models_of(file, line, usage, keywords, out))
    with progress, out.refusing(file):
        results = ask(file, line, given=usage.said, **keywords)
    out.publish(report_of(results))
    raise typer.Exit(_exit_of(results))


def _split(place: str) -> tuple[Path, int | None]:
    """`FILE:LINE`, unless there is a file of that name."""
    found = re.fullmatch(r"(.+):([0-9]{1,9})", place, re.DOTALL)
    if found is None or Path(place).exists():
        return Path(place), None
    return Path(found[1]), int(found[2])


def _exit_of(results: Sequence[WhyResult]) -> Exit:
    if any(result.is_interrupted for result in results):
        return Exit.UNKNOWN
    return exit_of_why(reason.need for result in results for reason in result.reasons)
