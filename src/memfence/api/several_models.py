"""`memfence.check_models`: the same question under several memory models, among them C11 and ARMv8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.inputs import Source, options_for, read_for_models
from memfence.models.catalogue import USUAL
from memfence.questions.conflicts import refuse_other_processors
from memfence.questions.models import check_models as ask
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import ModelsResult

if TYPE_CHECKING:
    from memfence.api.typed import CheckModelsKeywords


def check_models(
    source: Source,
    models: str | Sequence[str] = USUAL,
    *,
    unroll: int | None = None,
    given: Mapping[str, Any] | None = None,
    **typed: Unpack[CheckModelsKeywords],
) -> ModelsResult:
    """A verdict for each of the models: names or paths of cat files, in a list or with commas between.

    `unroll`: how often loops are unrolled; without it 1, 2, 4, ... times, until nothing is cut off.
    Other keywords as for `check`; those that only models with states know are refused where others are asked about.
    """
    keywords = dict[str, Any](typed)
    names, program, usage, deadline = read_for_models("check", source, models, keywords, unroll=unroll, given=given)
    for name in names:
        refuse_other_processors(program, name)
    with deadline.enforced():
        options = options_for(CheckOptions, program, None, keywords, deadline, usage)
        return ask(program, names, options, unrolled=unroll)
