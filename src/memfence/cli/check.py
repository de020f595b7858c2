"""`memfence check FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memfence.cli.exit_codes import exit_of
from memfence.cli.keywords import keywords_of, understood
from memfence.cli.mutate import mutate_of
from memfence.cli.option_groups import Deciding, File
from memfence.cli.output import Output
from memfence.cli.progress import ProgressLine
from memfence.cli.several import check_several, files_of
from memfence.cli.several_models import check_models_of
from memfence.cli.verb import verb
from memfence.verbs.models import is_answered_by_states

if TYPE_CHECKING:
    from memfence.api.check import Asked
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
    cycles: str | None,
    ends: bool,
    witness: Path | None,
    cluster: str | None,
    strict: bool,
    mutate: bool,
    mutate_at_least: int | None,
) -> None:
    """Does the program still work under the memory model? A proof, or a run that shows why not."""
    from memfence.api.check import Asked
    from memfence.cli.certifying import ask_and_certify, write_proof
    from memfence.report.described import report_of
    from memfence.report.formats.herd import herd_report
    from memfence.report.words.vacuity import warnings_of

    everything, several = files_of(file, deciding)
    usage = understood(context, models=model, files=everything, several=several)
    progress = ProgressLine(quiet=out.quiet)
    keywords = keywords_of(usage, progress)
    if mutate:
        raise typer.Exit(mutate_of(file, usage, keywords, out, mutate_at_least))
    if not is_answered_by_states(usage.models, usage.said.get("engine")):
        raise typer.Exit(check_models_of(file, usage, keywords, out, strict=strict))
    if several:
        raise typer.Exit(check_several(everything, keywords, out, strict=strict))
    out.require_places([("FILE", file)], [("--witness", witness)])
    with progress, out.refusing(file):
        result, besides = ask_and_certify(file, deciding.certifying, keywords, given=usage.said)
    out.warn(warnings := warnings_of(result))
    if out.is_text:
        sys.stdout.write(herd_report(result))
    proof = None if isinstance(besides, Asked) else besides
    out.publish(report_of(result, proof))
    if isinstance(besides, Asked) and out.is_text and not out.quiet and "model" not in usage.said:
        _add_c11(besides)
    if witness is not None:
        _write_witness(witness, result)
    refused = write_proof(proof, quiet=out.quiet or not out.is_text)
    raise typer.Exit(refused or exit_of(result.verdict, is_doubtful=strict and bool(warnings)))


def _add_c11(question: Asked) -> None:
    """One line about C11, where the answer is about x86 only because no model was named. The verdict stays as it is."""
    if question.program.language != "c":
        return
    from memfence.api.c11 import under_c11
    from memfence.cli import terminal
    from memfence.report.describe.models_text import c11_line

    try:
        found = under_c11(question)
    except KeyboardInterrupt:
        terminal.write("C11 (rc11) says: UNKNOWN: it was interrupted\n")
        return
    if found is not None:
        terminal.write(c11_line(found.answers[0]) + "\n")


def _write_witness(path: Path, result: CheckResult) -> None:
    """The witness of a violation; where there is none, a line says so."""
    from datetime import UTC, datetime

    from memfence.cli import terminal
    from memfence.cli.report_files import nothing_written, write_report
    from memfence.report.formats.svcomp_witness import has_witness, render_witness

    if has_witness(result):
        write_report(path, render_witness(result, created=datetime.now(UTC)), "--witness")
    else:
        terminal.write(nothing_written(path, "no run was found that fails at a step"), sys.stderr)
