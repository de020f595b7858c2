"""One question a file, one result type each. An analysis chooses engines and turns what they found into a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memfence.program.ir import Program
    from memfence.tasks.options import CheckOptions
    from memfence.tasks.result import CheckResult


def check(program: Program, options: CheckOptions) -> CheckResult:
    """Answer the question that `options` ask about `program`."""
    from memfence.questions.safety import check_safety
    from memfence.tasks.options import criterion_to_check

    criterion = criterion_to_check(program, options)
    if criterion == "safety":
        return check_safety(program, options)
    from memfence.questions.criteria import check_criterion

    return check_criterion(program, criterion, options)
