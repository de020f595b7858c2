"""`memfence compare FILE`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memfence.cli.exit_codes import exit_of_report
from memfence.cli.keywords import keywords_of, understood
from memfence.cli.option_groups import AboutStates, File
from memfence.cli.output import Output
from memfence.cli.progress import ProgressLine
from memfence.cli.several import compare_several, files_of
from memfence.cli.variants import compare_variants_of
from memfence.cli.verb import verb

if TYPE_CHECKING:
    from memfence.certificates.result import Proof
    from memfence.questions.compare import Comparison
    from memfence.tasks.implications import Requirement


@verb("Every criterion side by side.", example="compare examples/peterson.pml")
def compare(
    context: typer.Context,
    file: File,
    asked: AboutStates,
    ltl: str | None,
    define: list[str] | None,
    fair: bool,
    strongly_fair: bool,
    buffer_bound: int | None,
    out: Output,
    no_fences: bool,
    verify: bool,
    variants: bool,
    model: str | None,
    unroll: int | None,
    cost: str | None,
) -> None:
    """Every criterion side by side, under TSO and PSO: verdict, states, time, fences needed.

    With --variants each FILE is a version of the same program: a verdict and a price for each, under each model, and
    which of those that work are cheapest. Exit code 0: one of them works under all; 1: each fails somewhere.

    The time limit holds for each answer and each count of fences. Exit code 0: every question was decided, whatever the
    answers; 4: some were not. --verify certifies every answer that is a proof and has it checked.
    """
    from memfence.cli.certifying import write_refused
    from memfence.report.described import report_of

    everything, several = files_of(file, asked)
    usage = understood(context, models=model, files=everything, several=several and not variants)
    progress = ProgressLine()
    keywords = keywords_of(usage, progress)
    if variants:
        raise typer.Exit(compare_variants_of(everything, usage, keywords, out, unroll=unroll, cost=cost))
    if several:
        raise typer.Exit(compare_several(everything, keywords, out, fences=not no_fences))
    out.require_places([("FILE", file)])
    with progress, out.refusing(file):
        comparison, proofs = _ask(file, keywords, fences=not no_fences, verify=verify)
    out.publish(report := report_of(comparison, proofs))
    raise typer.Exit(write_refused(proofs.values()) or exit_of_report(report))


def _ask(
    file: Path, keywords: dict[str, Any], *, fences: bool, verify: bool
) -> tuple[Comparison, Mapping[Requirement, Proof]]:
    """The answers, and what became of their proofs where these are asked for."""
    if not verify:
        from memfence.api.compare import compare as ask

        return ask(file, fences=fences, **keywords), {}
    from memfence.api.verified import compare_verified

    found = compare_verified(file, fences=fences, **keywords)
    return found.comparison, found.proofs
