"""`memfence.mutate`: what does the test not notice? `mutate_questions` asks several programs with one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.inputs import Source, options_for, read_program, understand
from memfence.api.values import said_in
from memfence.deadline import Deadline
from memfence.models.catalogue import USUAL
from memfence.questions.conflicts import refuse_other_processors
from memfence.synthesis.mutation.score import Mutation
from memfence.synthesis.mutation.score import mutate as mutate_questions
from memfence.synthesis.orders.questions import Question
from memfence.tasks.options import CheckOptions
from memfence.tasks.usage import WrongUsage
from memfence.verbs.models import models_in

if TYPE_CHECKING:
    from memfence.api.typed import MutateKeywords

__all__ = ["Question", "mutate", "mutate_questions"]


def mutate(
    source: Source,
    models: str | Sequence[str] = USUAL,
    *,
    at_least: int | None = None,
    unroll: int | None = None,
    given: Mapping[str, Any] | None = None,
    **typed: Unpack[MutateKeywords],
) -> Mutation:
    """Each memory order one step weaker, each fence dropped, each locked operation split, one at a time: which of these
    does some model notice, and which none?

    `at_least`: the percentage that is enough. Models, `unroll` and other keywords as for `check_models`; the time limit
    holds for each question.
    """
    if at_least is not None and not 0 <= at_least <= 100:
        raise WrongUsage("at_least", f"{at_least!r} is not a percentage")
    keywords, names = dict[str, Any](typed), models_in(models)
    said = {**(said_in("check", keywords, None) if given is None else given), "mutate": True}
    usage = understand("check", source, keywords, models=names, given=said, besides={"unroll": unroll})
    deadline = Deadline(keywords.get("timeout_seconds"))
    program = read_program(source, keywords, deadline, usage, for_every_processor=True)
    for name in names:
        refuse_other_processors(program, name)
    options = options_for(CheckOptions, program, None, keywords, deadline, usage)
    return mutate_questions([Question(program, names, options, unroll)], at_least=at_least)
