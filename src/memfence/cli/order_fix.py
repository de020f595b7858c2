"""`memfence fix FILE --model LIST`: stronger memory orders for all of the models at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfence.cli.exit_codes import Exit, exit_of_fix
from memfence.cli.refusal import refusing

if TYPE_CHECKING:
    from memfence.cli.option_groups import Reported
    from memfence.synthesis.orders.result import OrderFix
    from memfence.verbs.usage import Usage


def fix_models_of(
    file: Path,
    usage: Usage,
    keywords: dict[str, Any],
    reported: Reported,
    *,
    output: Path | None,
    in_place: bool,
) -> Exit:
    """Fix the file for all models, and write the text as `fix` does. 0 only with a proof without a bound."""
    from memfence.api.order_fix import fix_models
    from memfence.cli.patched_files import write_patched
    from memfence.report.describe.order_fix import order_files

    with refusing(reported.json):
        result = fix_models(file, usage.models, given=usage.said, **_but_models(keywords))
    _print(result, reported, diff=usage.says("diff"))
    code = exit_of_fix(result.verdict)
    if code is Exit.HOLDS and result.patched is not None:
        write_patched(order_files(result), output, in_place=in_place)
    return Exit.UNKNOWN if code is Exit.HOLDS and result.bound is not None else code


def why_models_of(file: Path, line: int | None, usage: Usage, keywords: dict[str, Any], *, json: bool) -> Exit:
    """Which orders of the file the models need. 0: all that were asked about; 1: not all; 4: not known."""
    from memfence.api.order_fix import why_models
    from memfence.cli import terminal
    from memfence.report.describe.order_fix import needed_object, needed_text
    from memfence.report.formats.json import dump

    with refusing(json):
        result = why_models(file, line, usage.models, given=usage.said, **_but_models(keywords))
    if json:
        sys.stdout.write(dump(needed_object(result)))
    else:
        terminal.write(needed_text(result, width=terminal.width()))
    needed = {one.is_needed for one in result.orders}
    return Exit.VIOLATED if False in needed else Exit.UNKNOWN if None in needed else Exit.HOLDS


def _but_models(keywords: dict[str, Any]) -> dict[str, Any]:
    """The models have a parameter of their own."""
    return {name: value for name, value in keywords.items() if name != "model"}


def _print(result: OrderFix, reported: Reported, *, diff: bool) -> None:
    from memfence.cli import terminal
    from memfence.report.describe.order_fix import order_fix_object, order_fix_text
    from memfence.report.formats.json import dump

    if reported.json:
        sys.stdout.write(dump(order_fix_object(result)))
    elif diff:
        sys.stdout.write(result.diff if exit_of_fix(result.verdict) is Exit.HOLDS else "")
    else:
        terminal.write(order_fix_text(result, width=terminal.width(), quiet=reported.quiet))
