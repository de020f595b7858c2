"""`memfence fix FILE --model LIST`: stronger memory orders for all of the models at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfence.cli.exit_codes import Exit, exit_of_fix
from memfence.cli.keywords import without

if TYPE_CHECKING:
    from memfence.cli.output import Output
    from memfence.verbs.usage import Usage


def fix_models_of(
    file: Path,
    usage: Usage,
    keywords: dict[str, Any],
    out: Output,
    *,
    output: Path | None,
    in_place: bool,
) -> Exit | None:
    """Fix the file for all models, and write the text as `fix` does. 0 only with a proof without a bound.

    None: nothing was said or written, since only fences can be chosen.
    """
    from memfence.api.fix import fixed_files
    from memfence.api.order_fix import fix_models, leaves_fences
    from memfence.cli.patched_files import write_patched
    from memfence.report.described import report_of

    out.require_places([("FILE", file)])
    with out.refusing(file):
        result = fix_models(file, usage.models, given=usage.said, **without(keywords, "model"))
    if leaves_fences(result) and not usage.says("unroll"):
        return None
    code = exit_of_fix(result.verdict)
    shown = (result.diff if code is Exit.HOLDS else "") if usage.says("diff") else None
    out.show(report := report_of(result), instead=shown)
    out.write(report)
    if code is Exit.HOLDS and result.patched is not None:
        write_patched(fixed_files(result), output, in_place=in_place)
    return Exit.UNKNOWN if code is Exit.HOLDS and result.bound is not None else code


def why_models_of(file: Path, line: int | None, usage: Usage, keywords: dict[str, Any], out: Output) -> Exit:
    """Which orders of the file the models need. 0: all that were asked about; 1: not all; 4: not known."""
    from memfence.api.order_fix import why_models
    from memfence.report.described import report_of

    with out.refusing(file):
        result = why_models(file, line, usage.models, given=usage.said, **without(keywords, "model"))
    out.publish(report_of(result))
    needed = {one.is_needed for one in result.orders}
    return Exit.VIOLATED if False in needed else Exit.UNKNOWN if None in needed else Exit.HOLDS
