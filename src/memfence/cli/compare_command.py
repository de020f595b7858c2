"""`memfence compare FILE`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from memfence.cli.commands import File, IntBits, LanguageOption, _interrupted, _load, _refuse
from memfence.cli.exit_codes import Exit


def compare(
    file: File,
    int_bits: IntBits = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="S", min=0, help="Give up after S seconds a criterion.")
    ] = None,
    memory: Annotated[int | None, typer.Option(metavar="MB", min=1, help="Give up beyond MB megabytes.")] = None,
    threads: Annotated[int, typer.Option(metavar="N", min=0, help="Search threads; 0: one a processor.")] = 1,
    language: LanguageOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Every criterion side by side, under TSO and PSO: verdict, states, time.

    Exit code 0: every question was decided, whatever the answers; 4: some were not.
    """
    from memfence.analyses.compare import compare as run_compare
    from memfence.analyses.options import CheckOptions
    from memfence.cli import terminal
    from memfence.cli.progress import ProgressLine
    from memfence.diagnostics import InputError
    from memfence.reports.compare import render_comparison, render_comparison_json

    progress = ProgressLine()
    try:
        program = _load(file, language, int_bits)
        options = CheckOptions(
            timeout_seconds=timeout,
            memory_megabytes=memory,
            threads=threads,
            progress=progress if progress.active else None,
        )
        comparison = run_compare(program, options)
    except InputError as error:
        raise typer.Exit(_refuse(error, json)) from None
    except KeyboardInterrupt:
        raise typer.Exit(_interrupted(json)) from None
    finally:
        progress.close()
    if json:
        sys.stdout.write(render_comparison_json(comparison))
    else:
        terminal.write(render_comparison(comparison, width=terminal.width()))
    raise typer.Exit(Exit.HOLDS if comparison.is_conclusive else Exit.UNKNOWN)
