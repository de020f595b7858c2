"""`memfence check FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memfence.cli.exit_codes import exit_of
from memfence.cli.keywords import keywords_of, understood
from memfence.cli.option_groups import Deciding, File
from memfence.cli.output import Output
from memfence.cli.portable import check_models_of
from memfence.cli.progress import ProgressLine
from memfence.cli.several import are_programs, check_several
from memfence.cli.verb import verb
from memfence.verbs.models import is_answered_by_states

if TYPE_CHECKING:
    from memfence.tasks.result import CheckResult


@verb("Does the program still work? A proof, or a run.", example="check examples/lost_wakeup.pml --model tso")
def check(
    context: typer.Context,
    file: File,
    deciding: Deciding,
    out: Output,
    model: str,
    unroll: int | None,
    criterion: str | None,
    abstract: int | None,
    ends: bool,
    witness: Path | None,
    cluster: str | None,
    strict: bool,
) -> None:
    """Does the program still work under the memory model? A proof, or a run that shows why not."""
    from memfence.cli.certifying import ask_and_certify, write_proof
    from memfence.report.described import report_of
    from memfence.report.formats.herd import herd_report
    from memfence.report.words.vacuity import warnings_of

    everything = [file, *map(Path, deciding.compiling.also or ())]
    several = are_programs(everything, deciding.loading.language)
    usage = understood(context, models=model, files=everything, several=several)
    progress = ProgressLine(quiet=out.quiet)
    keywords = keywords_of(usage, progress)
    if not is_answered_by_states(usage.models):
        raise typer.Exit(check_models_of(file, usage, keywords, out, strict=strict))
    if several:
        raise typer.Exit(check_several(everything, keywords, out, strict=strict))
    out.require_places([("FILE", file)], [("--witness", witness)])
    try:
        with out.refusing(file):
            result, proof = ask_and_certify(file, deciding.certifying, keywords, given=usage.said)
    finally:
        progress.close()
    out.warn(warnings := warnings_of(result))
    if out.is_text:
        sys.stdout.write(herd_report(result))
    out.publish(report_of(result, proof))
    if witness is not None:
        _write_witness(witness, result)
    refused = write_proof(proof, quiet=out.quiet or not out.is_text)
    raise typer.Exit(refused or exit_of(result.verdict, is_doubtful=strict and bool(warnings)))


def _write_witness(path: Path, result: CheckResult) -> None:
    """The witness of a violation, if there is one."""
    from datetime import UTC, datetime

    from memfence.cli.report_files import write_report
    from memfence.report.formats.svcomp_witness import has_witness, render_witness

    if has_witness(result):
        write_report(path, render_witness(result, created=datetime.now(UTC)), "--witness")
