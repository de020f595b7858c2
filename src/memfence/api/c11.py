"""What C11 says about a program that was asked about on x86 only, as C, C++ and Rust are where no model is named."""

from __future__ import annotations

from dataclasses import replace

from memfence.api.check import Asked
from memfence.deadline import Deadline, TimeUp
from memfence.questions.models import check_models
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Limits
from memfence.tasks.result import ModelsResult

LEAST_SECONDS, MOST_SECONDS = 2.0, 30.0
"""Without a limit of the user's, C11 has as long as x86 took, within these."""


def under_c11(asked: Asked) -> ModelsResult | None:
    """The same question under `rc11`, within what is left of its time; None where it is one of states only.

    A violation on x86 needs no second answer: C11 allows what x86 does.
    """
    result, options = asked.result, asked.options
    if asked.program.language != "c" or asked.program.any_number or asked.is_unread or options.ltl or options.ends:
        return None
    if asked.program.assembly:  # C11 has other code there
        return None
    if result.criterion is not Criterion.SAFETY or result.verdict is Verdict.VIOLATED:
        return None
    deadline = Deadline(_seconds(result.limits))
    try:
        with deadline.enforced():
            options = replace(options, deadline=deadline, progress=None)
            found = check_models(asked.program, ("rc11",), options)
    except TimeUp:
        return None
    return None if found.not_asked else found


def _seconds(limits: Limits) -> float:
    spent = min(MOST_SECONDS, max(LEAST_SECONDS, limits.deadline.elapsed))
    return spent if limits.deadline.left is None else min(spent, limits.deadline.left)
