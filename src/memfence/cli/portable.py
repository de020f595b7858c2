"""`memfence check FILE --model LIST`: one verdict for each model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfence.cli.exit_codes import Exit, exit_of, worst
from memfence.cli.refusal import refusing
from memfence.cli.report_files import ReportFiles

if TYPE_CHECKING:
    from memfence.cli.option_groups import Reported
    from memfence.verbs.usage import Usage


def check_models_of(file: Path, usage: Usage, keywords: dict[str, Any], reported: Reported, *, strict: bool) -> Exit:
    """Check the file under each model, print one table and what it rests on; the exit code is that of the worst.

    `strict`: a warning makes it 1."""
    from memfence.api.portable import check_models
    from memfence.cli import terminal
    from memfence.diagnostics import render
    from memfence.report.describe.portable import portable_object, render_portable
    from memfence.report.formats.json import dump
    from memfence.report.words.doubts import portable_warnings

    files = ReportFiles(reported.html)
    files.require_places([("FILE", file)])
    with refusing(reported.json):
        keywords = {name: value for name, value in keywords.items() if name != "model"}
        result = check_models(file, usage.models, given=usage.said, **keywords)
    warnings = portable_warnings(result)
    if reported.json:
        sys.stdout.write(dump(portable_object(result)))
    else:
        if warnings and not reported.quiet:
            terminal.write(render(warnings) + "\n", sys.stderr)
        terminal.write(render_portable(result, width=terminal.width(), quiet=reported.quiet, verbose=reported.verbose))
    files.write_models(result)
    return worst(exit_of(answer.verdict, is_doubtful=strict and bool(warnings)) for answer in result.answers)
