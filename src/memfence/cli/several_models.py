"""`memfence check FILE --model LIST`: one verdict for each model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfence.cli.exit_codes import Exit, exit_of, worst
from memfence.cli.keywords import without

if TYPE_CHECKING:
    from memfence.cli.output import Output
    from memfence.verbs.usage import Usage


def check_models_of(file: Path, usage: Usage, keywords: dict[str, Any], out: Output, *, strict: bool) -> Exit:
    """Check the file under each model, print one table and what it rests on; the exit code is that of the worst.

    `strict`: a warning makes it 1."""
    from memfence.api.several_models import check_models
    from memfence.report.described import report_of
    from memfence.report.words.vacuity import models_warnings

    out.require_places([("FILE", file)])
    with out.refusing(file):
        result = check_models(file, usage.models, given=usage.said, **without(keywords, "model"))
    out.warn(warnings := models_warnings(result))
    out.publish(report_of(result))
    return worst(exit_of(answer.verdict, is_doubtful=strict and bool(warnings)) for answer in result.answers)
