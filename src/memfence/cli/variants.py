"""`memfence compare --variants FILE...`: which of them is right, and which of these is cheapest?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfence.cli.exit_codes import Exit, exit_of
from memfence.cli.keywords import without

if TYPE_CHECKING:
    from memfence.cli.output import Output
    from memfence.verbs.usage import Usage


def compare_variants_of(
    files: Sequence[Path], usage: Usage, keywords: dict[str, Any], out: Output, *, unroll: int | None, cost: str | None
) -> Exit:
    """Ask about every variant under every model. The exit code is that of the best variant."""
    from memfence.api.variants import compare_variants
    from memfence.report.described import report_of

    out.require_places([("FILE", file) for file in files])
    models = usage.models or None
    with out.refusing():
        result = compare_variants(
            [str(file) for file in files],
            models,
            unroll=unroll,
            cost="measured" if cost else None,
            given=usage.said,
            **without(keywords, "also"),
        )
    out.publish(report_of(result))
    return exit_of(result.verdict)
