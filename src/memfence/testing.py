"""memfence in your own test suite: `assert_safe("model.pml", model="tso")`.

    from memfence.testing import assert_safe

    def test_the_queue_works_on_x86() -> None:
        assert_safe("models/queue.pml", model="tso")

Only a proof passes: what is violated, only bounded or unknown raises AssertionError with the report as its message. An
input that cannot be read raises `memfence.InputError`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

if TYPE_CHECKING:
    from memfence.api.typed import CheckModelsKeywords
    from memfence.tasks.result import CheckResult


def assert_safe(
    path: str | Path,
    model: str = "tso",
    **options: Unpack[CheckModelsKeywords],
) -> CheckResult:
    """Prove that the program in `path` works under `model`; AssertionError with the whole report if it is not proved.

    `options` are those of `memfence.check`, such as `criterion` and `forbid`.
    """
    __tracebackhide__ = True
    from memfence.api.check import check
    from memfence.tasks.answer import Verdict

    result = check(path, model=model, **options)
    if result.verdict is not Verdict.HOLDS:
        raise AssertionError(f"not proved\n{result}\n")
    return result


def assert_unsafe(
    path: str | Path,
    model: str = "tso",
    **options: Unpack[CheckModelsKeywords],
) -> CheckResult:
    """Show that the program in `path` fails under `model`: for tests of the tests, which a known bug must break."""
    __tracebackhide__ = True
    from memfence.api.check import check
    from memfence.tasks.answer import Verdict

    result = check(path, model=model, **options)
    if result.verdict is not Verdict.VIOLATED:
        raise AssertionError(f"no violation found\n{result}\n")
    return result
