"""`memfence compare --variants --json`: versions of one program under several models."""

from __future__ import annotations

from typing import Annotated, TypedDict

from memfence.report.contract.parts import Count, Seconds, VerdictName
from memfence.report.contract.shape import Size, closed


@closed
class VariantModel(TypedDict):
    model: str
    verdict: VerdictName
    unrolled: Annotated[int | None, "How often loops were followed; null: there is no bound."]
    variants: Annotated[list[str], "Translations of C for which it fails, where not all do."]
    price: Annotated[Count, "What its orders, fences and read-modify-writes cost, each place of the text once."]
    reason: str


@closed
class Variant(TypedDict):
    variant: Annotated[str, "As it was typed."]
    file: str
    macros: list[str]
    revision: str | None
    verdict: Annotated[VerdictName, "The worst of all models."]
    best: Annotated[bool, "It works, and none that works is cheaper under a model and no dearer under the others."]
    notes: list[str]
    assumptions: list[str]
    models: Annotated[list[VariantModel], Size(1)]


@closed
class VariantsStats(TypedDict):
    seconds: Seconds


@closed
class CompareVariants(TypedDict):
    verdict: Annotated[VerdictName, "That of the best variant: holds where one of them holds under all models."]
    models: Annotated[list[str], Size(1)]
    variants: Annotated[list[Variant], Size(1)]
    best: Annotated[list[str], "The variants that are best."]
    measured: Annotated[bool, "Whether prices of x86 were measured."]
    stats: VariantsStats
