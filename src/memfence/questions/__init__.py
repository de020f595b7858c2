"""One question per file. A question chooses what to ask of the engines and turns their answer into a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memfence.program.ir import Program
    from memfence.tasks.options import CheckOptions
    from memfence.tasks.result import CheckResult


def check(program: Program, options: CheckOptions) -> CheckResult:
    """Answer the question that `options` ask about `program`."""
    from memfence.questions.safety import check_safety
    from memfence.tasks.criterion import Criterion
    from memfence.tasks.options import criterion_to_check

    criterion = criterion_to_check(program, options)
    if program.any_number:
        from memfence.questions.parameterised import check_parameterised

        return check_parameterised(program, criterion, options)
    if criterion is Criterion.SAFETY:
        return check_safety(program, options)
    from memfence.questions.criteria import check_criterion

    return check_criterion(program, criterion, options)
