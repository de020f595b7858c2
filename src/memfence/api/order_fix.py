"""`memfence.fix_models` and `why_models`: the memory orders that several models need, no more and no less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.inputs import Source, options_for, read_for_models
from memfence.axiomatic.library import models_named
from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.models.cat.polarity import offences
from memfence.models.catalogue import USUAL
from memfence.program.ir import Program
from memfence.synthesis.options import FixOptions
from memfence.synthesis.orders.fix import fix_orders
from memfence.synthesis.orders.needed import NeededOrders, needed_orders, strong_places
from memfence.synthesis.orders.result import OrderFix
from memfence.tasks.options import CheckOptions
from memfence.tasks.usage import WrongUsage
from memfence.verbs.models import RELAXED

if TYPE_CHECKING:
    from memfence.api.typed import FixModelsKeywords, WhyModelsKeywords

WITH_ORDERS = ("c",)
"""Languages whose texts name memory orders, and into which they can be written."""


def fix_models(
    source: Source,
    models: str | Sequence[str] = USUAL,
    *,
    unroll: int | None = None,
    given: Mapping[str, Any] | None = None,
    **typed: Unpack[FixModelsKeywords],
) -> OrderFix:
    """Which orders to strengthen and where to put fences so that the program works under all of the models.

    Models and `unroll` as for `check_models`; of the fields of `FixOptions`, `minimise` and `all` besides.
    """
    keywords = dict[str, Any](typed)
    names, program, usage, deadline = read_for_models("fix", source, models, keywords, unroll=unroll, given=given)
    require_orders(program)
    for name in names:
        require_monotone(name, program)
    with deadline.enforced():
        options = options_for(FixOptions, program, None, keywords, deadline, usage)
        return fix_orders(program, names, options, unrolled=unroll)


def why_models(
    source: Source,
    line: int | None = None,
    models: str | Sequence[str] = USUAL,
    *,
    unroll: int | None = None,
    given: Mapping[str, Any] | None = None,
    **typed: Unpack[WhyModelsKeywords],
) -> NeededOrders:
    """For every memory order of the program, or of one line: which models fail if it is one step weaker?

    Models, `unroll` and other keywords as for `check_models`. The time limit holds for each question.
    """
    keywords = dict[str, Any](typed)
    names, program, usage, deadline = read_for_models("why", source, models, keywords, unroll=unroll, given=given)
    require_orders(program)
    keywords.pop("criteria", None)
    options = options_for(CheckOptions, program, None, keywords, deadline, usage)
    lines = sorted({place.span.line for place in strong_places(program)})
    if line is not None and line not in lines:
        known = f"they are in line {', '.join(map(str, lines))}" if lines else "there is none in this file"
        raise WrongUsage("line", f"no order that could be weaker in line {line}; {known}")
    return needed_orders(program, line, names, options, unrolled=unroll)


def leaves_fences(result: OrderFix) -> bool:
    """Whether no order can be chosen, for x86 alone: fences are left there, and `fix` for `tso` chooses them."""
    return result.models == ("x86",) and result.refused is not None


def require_orders(program: Program) -> None:
    """InputError where the language has no memory orders that could be written."""
    if program.language not in WITH_ORDERS:
        what = f"stronger orders can be written into C and C++ only, and this is {program.language or 'no text'}"
        hint = f"with {' or '.join(RELAXED)}, `memfence fix` writes fences into every language"
        raise InputError([Diagnostic(Code.UNSUPPORTED, what, Label(program.source.span(0, 1)), hint=hint)])


def require_monotone(name: str, program: Program) -> None:
    """A minimum makes sense only where stronger orders never allow more."""
    for model in models_named(name, language=program.language):
        for offence in offences(model.cat):
            what = f"under this model a stronger order may allow more: `{offence.node.name}` in `{offence.axiom.name}`"
            raise InputError([Diagnostic(Code.UNSUPPORTED, what, Label(offence.node.span))])
