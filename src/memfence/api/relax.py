"""`memfence.relax`: the cheapest orders for which a program works under every model.

`relax_questions` is the same for several programs with one text, such as all clients of an object.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.inputs import Source, options_for, read_for_models
from memfence.api.order_fix import require_monotone, require_orders
from memfence.models.catalogue import USUAL
from memfence.program.ir import Program
from memfence.synthesis.orders.places import every_place
from memfence.synthesis.orders.questions import Question
from memfence.synthesis.orders.weakest import RelaxResult, with_reasons
from memfence.synthesis.orders.weakest import relax as relax_questions
from memfence.tasks.options import CheckOptions
from memfence.tasks.usage import WrongUsage

if TYPE_CHECKING:
    from memfence.api.typed import RelaxKeywords

__all__ = ["Question", "relax", "relax_questions"]


def relax(
    source: Source,
    models: str | Sequence[str] = USUAL,
    *,
    keep: Collection[int] = (),
    unroll: int | None = None,
    given: Mapping[str, Any] | None = None,
    **typed: Unpack[RelaxKeywords],
) -> RelaxResult:
    """The cheapest orders of the accesses and fences of the program for which it works under all of the models, what
    forbids each further weakening, and the text with them.

    `keep`: lines whose orders stay. Models, `unroll` and other keywords as for `check_models`; the time limit holds for
    each question that is asked.
    """
    keywords = dict[str, Any](typed)
    names, program, usage, deadline = read_for_models("relax", source, models, keywords, unroll=unroll, given=given)
    require_orders(program)
    for name in names:
        require_monotone(name, program)
    _require_lines(keep, program)
    options = options_for(CheckOptions, program, None, keywords, deadline, usage)
    return with_reasons(relax_questions([Question(program, names, options, unroll)], keep=keep))


def _require_lines(keep: Collection[int], program: Program) -> None:
    """WrongUsage for a line without an order: nothing would be kept there."""
    lines = sorted({place.span.line for place in every_place(program) if place.span.source is program.source})
    missing = [line for line in keep if line not in lines]
    if missing:
        known = f"they are in line {', '.join(map(str, lines))}" if lines else "there is none in this file"
        raise WrongUsage("keep", f"no memory order in line {missing[0]}; {known}")
