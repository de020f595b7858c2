"""Ctrl-C between the questions of a list: what is known stays, and the rest is unknown."""

from __future__ import annotations

from memfence.program.ir import Program
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Limit
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult, stats_of


def interrupted(program: Program, options: CheckOptions) -> CheckResult:
    """The result of a check that was ended before it had one."""
    answer = Answer(Verdict.UNKNOWN, Limit(Stop.CANCELLED, 0), "none", Cost())
    criterion = Criterion(options.criterion or Criterion.SAFETY)
    return CheckResult(program, options.model, criterion, (), answer, options.limits, stats_of(answer.cost))
