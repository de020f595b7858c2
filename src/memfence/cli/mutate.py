"""`memfence check FILE --mutate`: what does the test not notice?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfence.cli.exit_codes import Exit, exit_of
from memfence.cli.keywords import without

if TYPE_CHECKING:
    from memfence.cli.output import Output
    from memfence.verbs.usage import Usage


def mutate_of(file: Path, usage: Usage, keywords: dict[str, Any], out: Output, at_least: int | None) -> Exit:
    """0: the program holds and enough mutants are noticed; 1: it does not hold, or not enough are."""
    from memfence.api.mutate import mutate
    from memfence.report.described import report_of

    out.require_places([("FILE", file)])
    keywords = without(without(keywords, "model"), "progress")
    with out.refusing(file):
        result = mutate(file, usage.models, at_least=at_least, given=usage.said, **keywords)
    out.publish(report_of(result))
    code = exit_of(result.verdict)
    return Exit.VIOLATED if code is not Exit.VIOLATED and not result.is_enough else code
