"""`memfence check`, `fix` and `compare` of several programs: what is found of each, then a summary; the exit code is
that of the worst."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memfence.cli.exit_codes import MEANINGS, Exit, exit_of, exit_of_fix, worst
from memfence.cli.refusal import refuse, refusing

if TYPE_CHECKING:
    from memfence.cli.option_groups import Reported
    from memfence.diagnostics import InputError
    from memfence.tasks.result import CheckResult

T = TypeVar("T")
Found = tuple[Exit, str, dict[str, Any]]
"""The exit code of one file, what the summary calls it, and its object for `--json`."""


def are_programs(files: Sequence[Path], language: str | None) -> bool:
    """Whether each file is a program of its own: several files of C are one. `language`: that of --language."""
    from memfence.api.endings import is_part_of_program

    return len(files) > 1 and (language != "c" if language else not is_part_of_program(files[0]))


def check_several(files: Sequence[Path], keywords: dict[str, Any], reported: Reported, *, strict: bool) -> Exit:
    """Check each of the files and print what is found; `strict`: a warning counts as a violation."""
    from memfence.api.check import check

    def found(result: CheckResult) -> Found:
        from memfence.report.formats.json import check_object
        from memfence.report.words.doubts import warnings_of

        if not reported.json:
            _print(result, reported)
        code = exit_of(result.verdict, is_doubtful=strict and bool(warnings_of(result)))
        return code, MEANINGS[code], check_object(result) if reported.json else {}

    keywords = {name: value for name, value in keywords.items() if name != "also"}
    if keywords.get("cluster") is not None:
        from memfence.api.jobs import check_each

        with closing(check_each(files, keywords["cluster"], keywords)) as answers:
            return _each(files, lambda file: _or_raised(next(answers)), found, json=reported.json)
    return _each(files, lambda file: check(file, **keywords), found, json=reported.json)


def _or_raised(answer: CheckResult | InputError) -> CheckResult:
    if isinstance(answer, Exception):
        raise answer
    return answer


def fix_several(files: Sequence[Path], keywords: dict[str, Any], reported: Reported) -> Exit:
    """Fix each of the files and print how few fences do it; nothing is written."""
    from memfence.api.fix import fix

    def found(result: Any) -> Found:
        from memfence.report.describe.fix_files import fix_report_object, fix_report_text

        if not reported.json:
            _write(fix_report_text(result, width=_width(), quiet=True, verbose=False))
        verdict = str(result.verdict.value).replace("_", " ")
        return (
            exit_of_fix(result.verdict, is_bounded=result.is_bounded),
            verdict,
            fix_report_object(result) if reported.json else {},
        )

    keywords = {name: value for name, value in keywords.items() if name != "also"}
    return _each(files, lambda file: fix(file, **keywords), found, json=reported.json)


def compare_several(files: Sequence[Path], keywords: dict[str, Any], *, fences: bool, json: bool) -> Exit:
    """Compare the criteria of each of the files."""
    from memfence.api.compare import compare

    def found(result: Any) -> Found:
        from memfence.report.describe.compare import comparison_object, render_comparison

        if not json:
            _write(render_comparison(result, width=_width()) + "\n")
        code = Exit.HOLDS if result.is_conclusive else Exit.UNKNOWN
        what = "decided" if result.is_conclusive else "not decided"
        return code, what, comparison_object(result) if json else {}

    keywords = {name: value for name, value in keywords.items() if name != "also"}
    return _each(files, lambda file: compare(file, fences=fences, **keywords), found, json=json)


def _each(files: Sequence[Path], ask: Callable[[Path], T], tell: Callable[[T], Found], *, json: bool) -> Exit:
    """Ask about every file, even if another one cannot be read, and finish with the summary."""
    with refusing(json):
        found = [_one(file, ask, tell, json=json) for file in files]
    codes = [code for code, _, _ in found]
    if json:
        from memfence.report.formats.json import dump

        sys.stdout.write(dump({"files": [one for _, _, one in found]}))
        return worst(codes)
    counts = Counter(what for _, what, _ in sorted(found, key=lambda one: one[0]))
    sys.stdout.write(f"{len(codes)} files: {', '.join(f'{count} {what}' for what, count in counts.items())}\n")
    return worst(codes)


def _one(file: Path, ask: Callable[[Path], T], tell: Callable[[T], Found], *, json: bool) -> Found:
    from memfence.diagnostics import InputError
    from memfence.report.formats.json import error_object

    try:
        return tell(ask(file))
    except InputError as error:
        if not json:
            refuse(error, json=False)
        objects = {"file": str(file), **error_object(error)} if json else {}
        return Exit.BAD_INPUT, MEANINGS[Exit.BAD_INPUT], objects


def _print(result: CheckResult, reported: Reported) -> None:
    from memfence.cli import terminal
    from memfence.diagnostics import render
    from memfence.report.describe.check_text import verdict_line
    from memfence.report.words.doubts import warnings_of

    warnings = warnings_of(result)
    if warnings and not reported.quiet:
        terminal.write(render(warnings) + "\n", sys.stderr)
    _write(f"{verdict_line(result)}\n")


def _write(text: str) -> None:
    from memfence.cli import terminal

    terminal.write(text)


def _width() -> int:
    from memfence.cli import terminal

    return terminal.width()
