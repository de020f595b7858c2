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
from memfence.cli.keywords import without
from memfence.cli.refusal import refuse, refusing

if TYPE_CHECKING:
    from memfence.cli.option_groups import AboutStates, Deciding
    from memfence.cli.output import Output
    from memfence.diagnostics import InputError
    from memfence.tasks.result import CheckResult

T = TypeVar("T")


def files_of(file: Path, about: Deciding | AboutStates) -> tuple[list[Path], bool]:
    """All files that were named, and whether each is a program of its own: several files of C are one."""
    from memfence.api.endings import is_part_of_program

    files, language = [file, *map(Path, about.compiling.also or ())], about.loading.language
    return files, len(files) > 1 and (language != "c" if language else not is_part_of_program(file))


def check_several(files: Sequence[Path], keywords: dict[str, Any], out: Output, *, strict: bool) -> Exit:
    """Check each of the files and print what is found; `strict`: a warning counts as a violation."""
    from memfence.api.check import check
    from memfence.report.words.vacuity import warnings_of

    def found(result: CheckResult) -> tuple[Exit, str]:
        out.warn(warnings := warnings_of(result))
        code = exit_of(result.verdict, is_doubtful=strict and bool(warnings))
        return code, MEANINGS[code]

    keywords = without(keywords, "also")
    if keywords.get("cluster") is not None:
        from memfence.api.jobs import check_each

        with closing(check_each(files, keywords["cluster"], keywords)) as answers:
            return _each(files, lambda file: _or_raised(next(answers)), found, out)
    return _each(files, lambda file: check(file, **keywords), found, out)


def _or_raised(answer: CheckResult | InputError) -> CheckResult:
    if isinstance(answer, Exception):
        raise answer
    return answer


def fix_several(files: Sequence[Path], keywords: dict[str, Any], out: Output) -> Exit:
    """Fix each of the files and print how few fences do it; nothing is written."""
    from memfence.api.fix import fix

    def found(result: Any) -> tuple[Exit, str]:
        verdict = str(result.verdict.value).replace("_", " ")
        return exit_of_fix(result.verdict, is_bounded=result.is_bounded), verdict

    return _each(files, lambda file: fix(file, **without(keywords, "also")), found, out)


def compare_several(files: Sequence[Path], keywords: dict[str, Any], out: Output, *, fences: bool) -> Exit:
    """Compare the criteria of each of the files."""
    from memfence.api.compare import compare

    def found(result: Any) -> tuple[Exit, str]:
        return (Exit.HOLDS, "decided") if result.is_conclusive else (Exit.UNKNOWN, "not decided")

    return _each(files, lambda file: compare(file, fences=fences, **without(keywords, "also")), found, out, gap="\n")


def _each(
    files: Sequence[Path], ask: Callable[[Path], T], judge: Callable[[T], tuple[Exit, str]], out: Output, gap: str = ""
) -> Exit:
    """Ask about every file, even if another one cannot be read, and finish with the summary.

    `judge`: the exit code of one file, and what the summary calls it. `gap`: what stands behind each report.
    """
    with refusing(out.json):
        found = [_one(file, ask, judge, out, gap) for file in files]
    codes = [code for code, _, _ in found]
    if out.json:
        from memfence.report.formats.json import dump

        sys.stdout.write(dump({"files": [one for _, _, one in found]}))
        return worst(codes)
    counts = Counter(what for _, what, _ in sorted(found, key=lambda one: one[0]))
    sys.stdout.write(f"{len(codes)} files: {', '.join(f'{count} {what}' for what, count in counts.items())}\n")
    return worst(codes)


def _one(
    file: Path, ask: Callable[[Path], T], judge: Callable[[T], tuple[Exit, str]], out: Output, gap: str
) -> tuple[Exit, str, dict[str, Any]]:
    """With the object of the file for `--json`."""
    from memfence.cli import terminal
    from memfence.diagnostics import InputError
    from memfence.report.describe.check_data import error_object
    from memfence.report.described import report_of
    from memfence.report.report import Style

    try:
        result = ask(file)
    except InputError as error:
        if not out.json:
            refuse(error, json=False)
        objects = {"file": str(file), **error_object(error)} if out.json else {}
        return Exit.BAD_INPUT, MEANINGS[Exit.BAD_INPUT], objects
    code, what = judge(result)
    report = report_of(result)
    if out.json:
        return code, what, report.data()
    terminal.write(report.text(Style(terminal.width(), quiet=True)) + gap)
    return code, what, {}
