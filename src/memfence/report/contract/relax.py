"""`memfence relax --json`: the cheapest orders."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from memfence.report.contract.check import ModelAnswer
from memfence.report.contract.parts import Assumptions, Count, Seconds
from memfence.report.contract.shape import Size, closed

Order = Literal["relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"]


@closed
class FailingModel(TypedDict):
    model: str
    reason: str


@closed
class ForbiddenOrder(TypedDict):
    """An order one step weaker. `models`: those that fail with it; none where none was seen to."""

    weaker: Order
    models: list[FailingModel]


@closed
class RelaxedOrder(TypedDict):
    file: str
    line: int
    text: str
    of: Literal["load", "store", "rmw", "fence"]
    order: Annotated[Order, "As the text has it."]
    enough: Annotated[Order, "In the cheapest program; `relaxed` for a fence: without it."]
    judgement: Literal["too strong", "too weak", "needed", "relaxed", "other", "kept"]
    kept: Annotated[str | None, "Why it was not to be changed."]
    forbidden: list[ForbiddenOrder]


@closed
class RelaxPrice(TypedDict):
    model: str
    before: Count
    after: Count


@closed
class RelaxedFile(TypedDict):
    file: str
    patched: str


@closed
class RelaxStats(TypedDict):
    asked: Count
    seconds: Seconds


@closed
class Relax(TypedDict):
    file: str
    verdict: Annotated[
        Literal["relaxed", "minimal", "fixed", "violated", "unknown"],
        "relaxed: cheaper orders are proved to be enough. minimal: those of the text are the cheapest. fixed: the "
        "program fails as it is, and these orders are proved to be enough. violated: the strongest orders at the "
        "places there are not enough.",
    ]
    bounded: Annotated[bool, "Whether the proof is about so many rounds of loops (exit code 4)."]
    minimum: Annotated[bool, "Nothing cheaper is enough, of all orders of the places that are not kept."]
    models: Annotated[list[ModelAnswer], Size(1)]
    places: list[RelaxedOrder]
    prices: list[RelaxPrice]
    diff: str
    patched: str | None
    files: list[RelaxedFile]
    limit: str | None
    assumptions: Assumptions
    stats: RelaxStats
