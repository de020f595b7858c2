"""Versions of one program under several memory models: which are right, and which of these is cheapest?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memfence.models.catalogue import OrderCosts
from memfence.program.ir import Program
from memfence.questions.models import check_models
from memfence.records import Record
from memfence.synthesis.orders.price_of_text import price_of_text
from memfence.synthesis.orders.prices import order_costs
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import ModelsResult
from memfence.tasks.shown import Shown

FROM_BEST = (Verdict.HOLDS, Verdict.HOLDS_UP_TO, Verdict.UNKNOWN, Verdict.VIOLATED)
WITHOUT_FAILURE = (Verdict.HOLDS, Verdict.HOLDS_UP_TO)


class Variant(Record):
    """A version of the program. `name`: what the user typed; `file`, `macros`, `revision`: the parts of that."""

    name: str
    file: str
    program: Program
    options: CheckOptions
    macros: tuple[str, ...] = ()
    revision: str = ""


class VariantAnswers(Record):
    """What the models say of a variant, and what it costs under each. `is_best`: it fails under none of them, and no
    other that does not is cheaper under one and no dearer under the others."""

    variant: Variant
    found: ModelsResult
    prices: tuple[int, ...]
    is_best: bool = False

    @property
    def fails_nowhere(self) -> bool:
        return self.found.verdict in WITHOUT_FAILURE


class ComparedVariants(Shown, Record, repr=False):
    """Every variant under every model, as they were asked for. `measured`: whether prices of x86 were measured."""

    models: tuple[str, ...]
    variants: tuple[VariantAnswers, ...]
    measured: bool
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """That of the best variant, of which the verdict under the worst model counts."""
        found = {one.found.verdict for one in self.variants}
        return next(verdict for verdict in FROM_BEST if verdict in found)

    @property
    def best(self) -> tuple[VariantAnswers, ...]:
        return tuple(one for one in self.variants if one.is_best)


def compare_variants(
    variants: Sequence[Variant],
    models: Sequence[str],
    *,
    unrolled: int | None = None,
    measured: Mapping[str, OrderCosts] | None = None,
) -> ComparedVariants:
    """Ask every variant under every model; the time limit of its options is for one variant. `measured`: prices of
    models that are known better than by the table."""
    known = measured or {}
    costs = {name: known.get(name) or order_costs(name) for name in models}
    found = [
        VariantAnswers(
            one,
            check_models(one.program, models, one.options.afresh(), unrolled=unrolled),
            tuple(price_of_text(one.program, name, costs[name]) for name in models),
        )
        for one in variants
    ]
    marked = tuple(VariantAnswers(one.variant, one.found, one.prices, is_best(one, found)) for one in found)
    seconds = sum(one.found.seconds for one in found)
    return ComparedVariants(tuple(models), marked, bool(known), seconds)


def is_best(one: VariantAnswers, of: Sequence[VariantAnswers]) -> bool:
    """Whether it fails nowhere, and nothing else that fails nowhere costs less under a model and no more elsewhere."""
    return one.fails_nowhere and not any(other.fails_nowhere and _is_cheaper(other, one) for other in of)


def _is_cheaper(one: VariantAnswers, other: VariantAnswers) -> bool:
    pairs = list(zip(one.prices, other.prices, strict=True))
    return all(mine <= theirs for mine, theirs in pairs) and any(mine < theirs for mine, theirs in pairs)
