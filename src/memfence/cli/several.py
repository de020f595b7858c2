"""`memfence check` of several programs: a line each, then how many hold; the exit code is that of the worst."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memfence.cli.exit_codes import MEANINGS, Exit, exit_of, worst
from memfence.cli.refusal import refuse

if TYPE_CHECKING:
    from memfence.cli.option_groups import Reported
    from memfence.tasks.result import CheckResult

C_SUFFIXES = frozenset({".c", ".h", ".i", ".cc", ".cpp", ".cxx", ".c++", ".ll", ".ii"})


def are_programs(file: Path, also: Sequence[str]) -> bool:
    """Whether each file is a program of its own: several files of C are one."""
    return bool(also) and file.suffix.lower() not in C_SUFFIXES


def check_several(files: Sequence[Path], keywords: dict[str, Any], reported: Reported, *, strict: bool) -> Exit:
    """Check each of the files and print what is found; `strict`: a warning counts as a violation."""
    for option in ("html", "sarif", "junit"):
        if getattr(reported, option) is not None:
            raise typer.BadParameter("a report is about one program: give one file", param_hint=f"--{option}")
    codes, objects = list[Exit](), list[dict[str, Any]]()
    for file in files:
        code, found = _checked(file, keywords, reported, strict)
        codes.append(code)
        objects.append(found)
    _finish(codes, objects, reported)
    return worst(codes)


def _checked(file: Path, keywords: dict[str, Any], reported: Reported, strict: bool) -> tuple[Exit, dict[str, Any]]:
    from memfence.api.check import check
    from memfence.diagnostics import InputError
    from memfence.reports.doubts import warnings_of
    from memfence.reports.json import check_object, error_object

    try:
        result = check(file, **keywords)
    except InputError as error:
        if not reported.json:
            refuse(error, json=False)
        return Exit.BAD_INPUT, {"file": str(file), **error_object(error)} if reported.json else {}
    if not reported.json:
        _print(result, reported)
    code = exit_of(result.verdict, is_doubtful=strict and bool(warnings_of(result)))
    return code, check_object(result) if reported.json else {}


def _print(result: CheckResult, reported: Reported) -> None:
    from memfence.cli import terminal
    from memfence.diagnostics import render
    from memfence.reports.doubts import warnings_of
    from memfence.reports.text import verdict_line

    warnings = warnings_of(result)
    if warnings and not reported.quiet:
        terminal.write(render(warnings) + "\n", sys.stderr)
    terminal.write(f"{verdict_line(result)}\n")


def _finish(codes: Sequence[Exit], objects: list[dict[str, Any]], reported: Reported) -> None:
    if reported.json:
        from memfence.reports.json import dump

        sys.stdout.write(dump({"files": objects}))
        return
    counts = [f"{codes.count(code)} {MEANINGS[code]}" for code in Exit if code in codes]
    sys.stdout.write(f"{len(codes)} files: {', '.join(counts)}\n")
