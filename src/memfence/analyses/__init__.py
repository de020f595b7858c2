"""One question a file, one result type each. An analysis chooses engines and turns what they found into a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memfence.analyses.options import CheckOptions
    from memfence.analyses.result import CheckResult
    from memfence.program.ir import Program


def check(program: Program, options: CheckOptions) -> CheckResult:
    """Answer the question that `options` ask about `program`."""
    from memfence.analyses.options import criterion_to_check
    from memfence.analyses.safety import check_safety

    criterion = criterion_to_check(program, options)
    if criterion == "safety":
        return check_safety(program, options)
    from memfence.analyses.criteria import check_criterion

    return check_criterion(program, criterion, options)
