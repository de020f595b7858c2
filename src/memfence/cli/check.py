"""`memfence check FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memfence.cli.exit_codes import exit_of
from memfence.cli.keywords import keywords_of
from memfence.cli.option_groups import MOST, ClusterOption, CriterionOption, Deciding, File, Reported
from memfence.cli.portable import ModelsOption, UnrollOption, check_models_of, is_one_with_states
from memfence.cli.progress import ProgressLine
from memfence.cli.refusal import refusing
from memfence.cli.report_files import ReportFiles
from memfence.cli.several import are_programs, check_several
from memfence.cli.verb import verb

if TYPE_CHECKING:
    from memfence.certificates.result import Certified
    from memfence.tasks.result import CheckResult


@verb("Does the program still work? A proof, or a run.", example="check examples/lost_wakeup.pml --model tso")
def check(
    context: typer.Context,
    file: File,
    deciding: Deciding,
    model: ModelsOption = "tso",
    unroll: UnrollOption = None,
    criterion: CriterionOption = None,
    abstract: Annotated[
        int | None,
        typer.Option(
            metavar="K", min=0, max=MOST, help="For persistent: first flatten all but one process after K steps."
        ),
    ] = None,
    witness: Annotated[
        Path | None,
        typer.Option(
            "--witness", metavar="OUT", help="C, --model sc: also write a violation as SV-COMP's witness (YAML 2.0)."
        ),
    ] = None,
    cluster: ClusterOption = None,
    strict: Annotated[bool, typer.Option("--strict", help="A warning makes the exit code 1.")] = False,
) -> None:
    """Does the program still work under the memory model? A proof, or a run that shows why not."""
    from memfence.cli import terminal
    from memfence.cli.certifying import ask_and_certify, write_proof
    from memfence.diagnostics import render
    from memfence.reports.doubts import warnings_of

    reported, certifying, compiling = deciding.reported, deciding.certifying, deciding.compiling
    progress = ProgressLine(quiet=reported.quiet)
    if not is_one_with_states(model):
        keywords = keywords_of(context, progress, but=("certificate", "verify", "strict", "model", "witness"))
        raise typer.Exit(check_models_of(file, model, keywords, reported, strict=strict))
    if unroll is not None:
        raise typer.BadParameter("sc, tso and pso need no bound on loops", param_hint="--unroll")
    if cluster is not None and certifying.is_asked:
        raise typer.BadParameter("the states of a proof have to be on one machine", param_hint="--cluster")
    if are_programs(file, compiling.also or ()) and not certifying.is_asked:
        several = [file, *map(Path, compiling.also or ())]
        with refusing(reported.json):
            keywords = keywords_of(context, progress, but=("certificate", "verify", "strict", "also"))
            raise typer.Exit(check_several(several, keywords, reported, strict=strict))
    files = ReportFiles(reported.html, reported.sarif, reported.junit, witness)
    if witness is not None and model != "sc":
        raise typer.BadParameter("SV-COMP's witnesses are runs under SC: use --model sc", param_hint="--witness")
    files.require_places([("FILE", file)])
    try:
        with refusing(reported.json, file, files):
            keywords = keywords_of(context, progress, but=("certificate", "verify", "strict", "witness"))
            result, proof = ask_and_certify(file, certifying, keywords)
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
        from memfence.reports.json import check_object, dump
        from memfence.reports.verification import proof_object

        sys.stdout.write(dump(check_object(result) | ({} if proof is None else {"proof": proof_object(proof)})))
        return
    from memfence.reports.herd import herd_report
    from memfence.reports.text import render_text, verdict_line

    sys.stdout.write(herd_report(result))
    line = f"{verdict_line(result)}\n"
    text = line if reported.quiet else render_text(result, width=terminal.width(), verbose=reported.verbose)
    terminal.write(text)
