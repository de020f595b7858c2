"""`memfence compare FILE`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from memfence.cli.commands import (
    File,
    ForbidOption,
    IntBits,
    InvariantOption,
    LanguageOption,
    _load,
    _properties,
    _refuse,
)
from memfence.cli.exit_codes import Exit
from memfence.cli.outputs import HtmlOption, Outputs


def compare(
    file: File,
    forbid: ForbidOption = None,
    invariant: InvariantOption = None,
    int_bits: IntBits = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="S", min=0, help="Give up on an answer, or a count of fences, after S seconds."),
    ] = None,
    memory: Annotated[int | None, typer.Option(metavar="MB", min=1, help="Give up beyond MB megabytes.")] = None,
    threads: Annotated[int, typer.Option(metavar="N", min=0, help="Search threads; 0: one a processor.")] = 1,
    language: LanguageOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    html: HtmlOption = None,
    no_fences: Annotated[bool, typer.Option("--no-fences", help="Do not count the fences that are needed.")] = False,
) -> None:
    """Every criterion side by side, under TSO and PSO: verdict, states, time, fences needed.

    Exit code 0: every question was decided, whatever the answers; 4: some were not.
    """
    from memfence.cli import terminal
    from memfence.cli.progress import ProgressLine
    from memfence.diagnostics import InputError
    from memfence.reports.compare import render_comparison, render_comparison_json
    from memfence.synthesis.comparison import compare as run_compare
    from memfence.tasks.options import CheckOptions

    outputs = Outputs(html)
    outputs.require_places()
    progress = ProgressLine()
    try:
        program = _load(file, language, int_bits)
        options = CheckOptions(
            timeout_seconds=timeout,
            memory_megabytes=memory,
            threads=threads,
            progress=progress if progress.active else None,
            **_properties(program, forbid or [], invariant or [], None),
        )
        comparison = run_compare(program, options, fences=not no_fences)
    except InputError as error:
        raise typer.Exit(_refuse(error, json)) from None
    finally:
        progress.close()
    if json:
        sys.stdout.write(render_comparison_json(comparison))
    else:
        terminal.write(render_comparison(comparison, width=terminal.width()))
    outputs.write_comparison(comparison)
    raise typer.Exit(Exit.HOLDS if comparison.is_conclusive else Exit.UNKNOWN)
