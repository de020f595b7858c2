"""`memfence fix FILE --model LIST`: stronger memory orders for all of the models at once."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memfence.cli.exit_codes import Exit, exit_of_fix
from memfence.cli.refusal import refusing
from memfence.cli.report_files import write_report

if TYPE_CHECKING:
    from memfence.cli.option_groups import Reported
    from memfence.synthesis.orders.result import OrderFix

NOT_FOR_ORDERS = ("html", "sarif", "junit", "certificate", "verify", "atomic", "kinds", "cost", "via", "style", "bench")


def fix_models_of(
    file: Path, model: str, keywords: dict[str, Any], said: Mapping[str, Any], reported: Reported, *, place: Path | None
) -> Exit:
    """Fix the file for all models; `place`: where the text goes. 0 only with a proof without a bound."""
    from memfence.api.order_fix import fix_models

    for option in NOT_FOR_ORDERS:
        if option in said:
            raise typer.BadParameter("not for rc11, armv8, cat files and lists of models", param_hint=f"--{option}")
    with refusing(reported.json):
        result = fix_models(file, model, **keywords)
    _print(result, reported, diff=bool(said.get("diff")))
    code = exit_of_fix(result.verdict)
    if place is not None and code is Exit.HOLDS and result.patched is not None:
        write_report(place, result.program.source.marked(result.patched), "--output")
    return Exit.UNKNOWN if code is Exit.HOLDS and result.bound is not None else code


def _print(result: OrderFix, reported: Reported, *, diff: bool) -> None:
    from memfence.cli import terminal
    from memfence.reports.json import dump
    from memfence.reports.order_fix import order_fix_object, order_fix_text

    if reported.json:
        sys.stdout.write(dump(order_fix_object(result)))
    elif diff:
        sys.stdout.write(result.diff if exit_of_fix(result.verdict) is Exit.HOLDS else "")
    else:
        terminal.write(order_fix_text(result, width=terminal.width(), quiet=reported.quiet))
