"""`memfence compare FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memfence.cli.exit_codes import Exit
from memfence.cli.keywords import keywords_of
from memfence.cli.option_groups import AboutStates, File, HtmlOption, JsonOption
from memfence.cli.progress import ProgressLine
from memfence.cli.refusal import refusing
from memfence.cli.report_files import ReportFiles
from memfence.cli.several import are_programs, compare_several
from memfence.cli.verb import verb


@verb("Every criterion side by side.", example="compare examples/peterson.pml")
def compare(
    context: typer.Context,
    file: File,
    asked: AboutStates,
    json: JsonOption = False,
    html: HtmlOption = None,
    no_fences: Annotated[bool, typer.Option("--no-fences", help="Do not count the fences that are needed.")] = False,
) -> None:
    """Every criterion side by side, under TSO and PSO: verdict, states, time, fences needed.

    The time limit holds for each answer and each count of fences. Exit code 0: every question was decided, whatever the
    answers; 4: some were not.
    """
    from memfence.api.compare import compare as ask
    from memfence.cli import terminal
    from memfence.reports.compare import render_comparison, render_comparison_json

    files = ReportFiles(html)
    files.require_places([("FILE", file)])
    progress = ProgressLine()
    if are_programs(file, asked.compiling.also or ()):
        several = [file, *map(Path, asked.compiling.also or ())]
        with refusing(json):
            keywords = keywords_of(context, progress, but=("no_fences", "also"))
            raise typer.Exit(compare_several(several, keywords, fences=not no_fences, json=json, html=html))
    try:
        with refusing(json):
            comparison = ask(file, fences=not no_fences, **keywords_of(context, progress, but=("no_fences",)))
    finally:
        progress.close()
    if json:
        sys.stdout.write(render_comparison_json(comparison))
    else:
        terminal.write(render_comparison(comparison, width=terminal.width()))
    files.write_comparison(comparison)
    raise typer.Exit(Exit.HOLDS if comparison.is_conclusive else Exit.UNKNOWN)
