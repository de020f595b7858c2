"""memfence in your own test suite: `assert_safe("model.pml", model="tso")`.

    from memfence.testing import assert_safe

    def test_the_queue_works_on_x86() -> None:
        assert_safe("models/queue.pml", model="tso")

Only a proof passes: what is violated, only bounded or unknown raises AssertionError with the report as its message. An
input that cannot be read raises `memfence.InputError`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memfence.tasks.result import CheckResult


def assert_safe(
    path: str | Path,
    model: str = "tso",
    *,
    criterion: str | None = None,
    forbid: str | None = None,
    invariant: str | None = None,
    language: str | None = None,
    int_bits: int | None = None,
    **options: Any,
) -> CheckResult:
    """Prove that the program in `path` works under `model`; AssertionError with the whole report if it is not proved.

    `forbid` and `invariant` are expressions as on the command line; `options` are fields of `memfence.CheckOptions`.
    """
    __tracebackhide__ = True
    from memfence.reports.text import render_text
    from memfence.tasks.result import Verdict

    result = _checked(path, model, criterion, forbid, invariant, language, int_bits, options)
    if result.verdict is not Verdict.HOLDS:
        raise AssertionError(f"not proved\n{render_text(result)}")
    return result


def assert_unsafe(
    path: str | Path,
    model: str = "tso",
    *,
    criterion: str | None = None,
    forbid: str | None = None,
    invariant: str | None = None,
    language: str | None = None,
    int_bits: int | None = None,
    **options: Any,
) -> CheckResult:
    """Show that the program in `path` fails under `model`: for tests of the tests, which a known bug must break."""
    __tracebackhide__ = True
    from memfence.reports.text import render_text
    from memfence.tasks.result import Verdict

    result = _checked(path, model, criterion, forbid, invariant, language, int_bits, options)
    if result.verdict is not Verdict.VIOLATED:
        raise AssertionError(f"no violation found\n{render_text(result)}")
    return result


def _checked(
    path: str | Path,
    model: str,
    criterion: str | None,
    forbid: str | None,
    invariant: str | None,
    language: str | None,
    int_bits: int | None,
    options: dict[str, Any],
) -> CheckResult:
    from memfence.pipeline import load
    from memfence.program.ir import Forbidden, Invariant
    from memfence.program.load_options import LoadOptions
    from memfence.program.text.properties import parse_expression
    from memfence.questions import check
    from memfence.tasks.options import CheckOptions

    program = load(Path(path), LoadOptions(language=language, int_bits=int_bits))
    if forbid is not None:
        options["forbid"] = (Forbidden(parse_expression(forbid, program, "forbid"), forbid),)
    if invariant is not None:
        options["invariant"] = (Invariant(parse_expression(invariant, program, "invariant"), invariant),)
    if model not in ("sc", "tso", "pso"):
        raise ValueError(f"unknown memory model {model!r}: use 'sc', 'tso' or 'pso'")
    return check(program, CheckOptions(model=model, criterion=criterion, **options))  # type: ignore[arg-type]
