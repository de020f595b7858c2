"""`memfence check FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memfence.cli.exit_codes import exit_of
from memfence.cli.keywords import keywords_of, understood
from memfence.cli.option_groups import Deciding, File, Reported
from memfence.cli.portable import check_models_of
from memfence.cli.progress import ProgressLine
from memfence.cli.refusal import refusing
from memfence.cli.report_files import ReportFiles
from memfence.cli.several import are_programs, check_several
from memfence.cli.verb import verb
from memfence.verbs.models import is_answered_by_states

if TYPE_CHECKING:
    from memfence.certificates.result import Certified
    from memfence.tasks.result import CheckResult


@verb("Does the program still work? A proof, or a run.", example="check examples/lost_wakeup.pml --model tso")
def check(
    context: typer.Context,
    file: File,
    deciding: Deciding,
    model: str,
    unroll: int | None,
    criterion: str | None,
    abstract: int | None,
    witness: Path | None,
    cluster: str | None,
    strict: bool,
) -> None:
    """Does the program still work under the memory model? A proof, or a run that shows why not."""
    from memfence.cli import terminal
    from memfence.cli.certifying import ask_and_certify, write_proof
    from memfence.diagnostics import render
    from memfence.report.words.doubts import warnings_of

    reported = deciding.reported
    everything = [file, *map(Path, deciding.compiling.also or ())]
    several = are_programs(everything, deciding.loading.language)
    usage = understood(context, models=model, files=everything, several=several)
    progress = ProgressLine(quiet=reported.quiet)
    keywords = keywords_of(usage, progress)
    if not is_answered_by_states(usage.models):
        raise typer.Exit(check_models_of(file, usage, keywords, reported, strict=strict))
    if several:
        raise typer.Exit(check_several(everything, keywords, reported, strict=strict))
    files = ReportFiles(reported.html, reported.sarif, reported.junit, witness)
    files.require_places([("FILE", file)])
    try:
        with refusing(reported.json, file, files):
            result, proof = ask_and_certify(file, deciding.certifying, keywords, given=usage.said)
    finally:
        progress.close()
    warnings = warnings_of(result)
    if warnings and not (reported.quiet or reported.json):
        terminal.write(render(warnings) + "\n", sys.stderr)
    _print(result, reported, proof)
    files.write_check(result, proof)
    refused = write_proof(proof, quiet=reported.quiet or reported.json)
    raise typer.Exit(refused or exit_of(result.verdict, is_doubtful=strict and bool(warnings)))


def _print(result: CheckResult, reported: Reported, proof: Certified | None) -> None:
    from memfence.cli import terminal

    if reported.json:
        from memfence.report.describe.verify import proof_object
        from memfence.report.formats.json import check_object, dump

        sys.stdout.write(dump(check_object(result) | ({} if proof is None else {"proof": proof_object(proof)})))
        return
    from memfence.report.describe.check_text import render_text, verdict_line
    from memfence.report.formats.herd import herd_report

    sys.stdout.write(herd_report(result))
    line = f"{verdict_line(result)}\n"
    text = line if reported.quiet else render_text(result, width=terminal.width(), verbose=reported.verbose)
    terminal.write(text)
