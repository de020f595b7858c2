"""`memfence.compare`: every criterion side by side, with the fences that each needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.inputs import Source, options_for, read_program, understand
from memfence.deadline import Deadline
from memfence.questions.compare import Comparison
from memfence.synthesis.comparison import compare as ask
from memfence.tasks.options import CheckOptions

if TYPE_CHECKING:
    from memfence.api.typed import CompareKeywords


def compare(
    source: Source, options: CheckOptions | None = None, *, fences: bool = True, **typed: Unpack[CompareKeywords]
) -> Comparison:
    """Ask every criterion under TSO and PSO, and how few `fences` make those hold that do not.

    `source` and keywords as for `check`. The time limit holds for each answer and each count.
    """
    keywords = dict[str, Any](typed)
    usage = understand("compare", source, keywords, options)
    deadline = Deadline(keywords.get("timeout_seconds"))
    program = read_program(source, keywords, deadline, usage)
    return ask(program, options_for(CheckOptions, program, options, keywords, deadline, usage), fences=fences)
