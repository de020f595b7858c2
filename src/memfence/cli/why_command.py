"""`memfence why FILE[:LINE]`."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memfence.cli.commands import (
    CriterionChoice,
    ForbidOption,
    IntBits,
    InvariantOption,
    LanguageOption,
    _load,
    _properties,
    _refuse,
)
from memfence.cli.conflicts import refuse_other_models, refuse_unused
from memfence.cli.exit_codes import Exit
from memfence.cli.fix_command import RelaxedModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfence.program.ir import Program
    from memfence.synthesis.necessity import ExistingFence, WhyResult


def why(
    place: Annotated[
        str,
        typer.Argument(
            metavar="FILE[:LINE]", help="The program (-: standard input), or a fence of it.", show_default=False
        ),
    ],
    model: Annotated[RelaxedModel, typer.Option(help="Memory model.")] = RelaxedModel.tso,
    criterion: Annotated[
        list[CriterionChoice] | None,
        typer.Option(help="For which criterion, may be repeated. Default: as for check."),
    ] = None,
    forbid: ForbidOption = None,
    invariant: InvariantOption = None,
    int_bits: IntBits = None,
    timeout: Annotated[float | None, typer.Option(metavar="S", min=0, help="Give up after S seconds a check.")] = None,
    memory: Annotated[int | None, typer.Option(metavar="MB", min=1, help="Give up beyond MB megabytes.")] = None,
    threads: Annotated[int, typer.Option(metavar="N", min=0, help="Search threads; 0: one a processor.")] = 1,
    language: LanguageOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no runs.")] = False,
) -> None:
    """Is this fence needed? The run that appears without it, or a proof that there is none.

    Exit code 0: every fence asked about is needed; 1: some are not; 4: some are not known to be.
    """
    from memfence.cli.progress import ProgressLine
    from memfence.diagnostics import InputError
    from memfence.synthesis.necessity import why as run_why
    from memfence.tasks.options import CheckOptions, criterion_to_check

    file, line = _split(place)
    refuse_other_models(criterion or [], model)
    progress = ProgressLine(quiet=quiet)
    try:
        program = _load(file, language, int_bits)
        options = CheckOptions(
            model=model.value,
            timeout_seconds=timeout,
            memory_megabytes=memory,
            threads=threads,
            progress=progress if progress.active else None,
            **_properties(program, forbid or [], invariant or [], None),
        )
        fences = _fences(program, line)
        asked = criterion or [CriterionChoice(criterion_to_check(program, options))]
        for chosen in asked:
            refuse_unused(program, replace(options, criterion=chosen.value))
        results = [run_why(program, chosen.value, options, fences) for chosen in asked]
    except InputError as error:
        raise typer.Exit(_refuse(error, json)) from None
    finally:
        progress.close()
    _print(results, json, quiet)
    raise typer.Exit(_exit_of(results))


def _split(place: str) -> tuple[Path, int | None]:
    """`FILE:LINE`, unless there is a file of that name."""
    found = re.fullmatch(r"(.+):([0-9]{1,9})", place, re.DOTALL)
    if found is None or Path(place).exists():
        return Path(place), None
    return Path(found[1]), int(found[2])


def _fences(program: Program, line: int | None) -> tuple[ExistingFence, ...]:
    from memfence.synthesis.necessity import existing_fences

    fences = existing_fences(program)
    if line is None:
        return fences
    chosen = tuple(fence for fence in fences if fence.at.source is program.source and fence.at.line == line)
    if not chosen:
        lines = sorted({fence.at.line for fence in fences if fence.at.source is program.source})
        known = f"fences are in line {', '.join(map(str, lines))}" if lines else "there is no fence in this file"
        raise typer.BadParameter(f"no fence in line {line}; {known}", param_hint="FILE:LINE")
    return chosen


def _print(results: Sequence[WhyResult], json: bool, quiet: bool) -> None:
    from memfence.cli import terminal
    from memfence.reports.necessity import necessity_object, necessity_text

    if json:
        from memfence.reports.json import dump

        sys.stdout.write(dump(necessity_object(results)))
    else:
        terminal.write(necessity_text(results, width=terminal.width(), quiet=quiet))


def _exit_of(results: Sequence[WhyResult]) -> Exit:
    needs = {reason.need.value for result in results for reason in result.reasons}
    if "unknown" in needs:
        return Exit.UNKNOWN
    return Exit.HOLDS if needs <= {"needed"} else Exit.VIOLATED
