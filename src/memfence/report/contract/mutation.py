"""`memfence check --mutate --json`: what the test does not notice."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from memfence.report.contract.check import ModelAnswer
from memfence.report.contract.parts import Count, Seconds, VerdictName
from memfence.report.contract.shape import Least, Size, closed


@closed
class MutantFate(TypedDict):
    file: str
    line: Annotated[int, Least(1)]
    text: str
    kind: Annotated[
        Literal["order", "failure", "fence", "split"],
        "failure: the order of a compare-exchange that fails. split: a locked operation as a load and a store.",
    ]
    of: str
    was: str
    becomes: str
    fate: Annotated[
        Literal["noticed", "alike", "unnoticed", "unknown"],
        "noticed: a model fails with it. alike: every model takes it for the same program. unnoticed: nothing fails.",
    ]
    model: Annotated[str | None, "The model that notices."]
    alike: Annotated[list[str], "The models to which it is the same program."]
    reason: str


@closed
class MutationStats(TypedDict):
    seconds: Seconds


@closed
class CheckMutants(TypedDict):
    file: str
    model: str
    criterion: Literal["safety"]
    verdict: Annotated[VerdictName, "Of the program as it is: the worst of all models."]
    models: Annotated[list[ModelAnswer], Size(1)]
    mutants: Annotated[list[MutantFate], "None where the program fails as it is."]
    noticed: Count
    alike: Count
    percent: Annotated[int, "Of the mutants that some model can tell from the program.", Least(0)]
    at_least: int | None
    enough: bool
    stats: MutationStats
