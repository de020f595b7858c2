"""`memfence check --json`, under one model and under several."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from memfence.report.contract.parts import (
    Allow,
    AskedModel,
    AskedName,
    Assumptions,
    Count,
    Diagnostic,
    ModelName,
    Proof,
    Reading,
    Seconds,
    State,
    Step,
    VerdictName,
)
from memfence.report.contract.shape import Size, closed

Warnings = Annotated[
    list[Diagnostic],
    "What makes the verdict worth less than it seems, or what it does not cover: `memfence explain` knows the codes.",
]


class FinalState(TypedDict):
    values: dict[str, int]
    count: Count


class SearchStats(TypedDict):
    states: Count
    transitions: Count
    seconds: Seconds
    peak_mb: Seconds


class Check(TypedDict):
    file: str
    model: ModelName
    asked_model: NotRequired[AskedModel]
    criterion: AskedName
    formula: NotRequired[
        Annotated[str | None, "Of a question about infinite runs: the formula, or the name of the automaton."]
    ]
    verdict: Annotated[
        VerdictName,
        "holds: proved. holds_up_to: nothing found within `bound`. violated: see `trace`. unknown: see `limit`, or "
        "`scope` where the question is outside the engine asked for.",
    ]
    bound: Annotated[int | None, "The buffer bound of a `holds_up_to`."]
    engine: str
    property: Annotated[str, "What was asked; for a violation, the property that is broken."]
    finding: NotRequired[
        Annotated[str | None, "What goes wrong, which object, and where: `assert(x == 1) fails (line 7)`."]
    ]
    scope: NotRequired[Annotated[str, "What the verdict covers."]]
    notes: NotRequired[Annotated[list[str], "Restrictions of scope that come from the program, such as --int-bits."]]
    assumptions: Assumptions
    reading: NotRequired[Reading]
    allow: NotRequired[Allow]
    limit: NotRequired[str | None]
    advice: NotRequired[str | None]
    details: NotRequired[list[str]]
    warnings: Warnings
    trace: Annotated[list[Step] | None, "A run that was replayed through the definition of the memory model."]
    start: NotRequired[State | None]
    shortest: NotRequired[
        Annotated[bool | None, "It was proved that no run that shows the same has fewer steps than `trace`."]
    ]
    loop_start: NotRequired[
        Annotated[
            int | None,
            "The run repeats for ever from this step on; one past the last step: nothing happens any more.",
        ]
    ]
    places: NotRequired[
        Annotated[
            list[dict[str, Any]],
            "Of a violation: the place that matters first (the overtaken store, or what fails), then the others.",
        ]
    ]
    why: NotRequired[Annotated[list[str], "Which store was overtaken by which access, in sentences."]]
    states: NotRequired[Annotated[list[FinalState] | None, "Every final state, for litmus tests."]]
    stats: Annotated[SearchStats, "What the search cost. Engines add counts of their own."]
    proof: NotRequired[
        Annotated[Proof, "Only with --certificate or --verify. `missing`: why there is no proof in a file."]
    ]


def no_trace(verdict: str, *also: str) -> dict[str, Any]:
    """A verdict without a run, and without what else is named."""
    nothing: dict[str, Any] = {name: {"type": "null"} for name in ("trace", *also)}
    return {"if": {"properties": {"verdict": {"const": verdict}}}, "then": {"properties": nothing}}


NOTHING_SHOWN = [no_trace("holds_up_to"), no_trace("holds", "bound"), no_trace("unknown")]
"""Only a violation has a run, and a proof no bound."""


@closed
class Event(TypedDict):
    number: int
    thread: str
    place: str
    action: str
    reads: str


Edge = TypedDict("Edge", {"from": int, "to": int, "relation": Literal["rf", "co"]})
closed(Edge)


@closed
class Execution(TypedDict):
    variant: str
    events: list[Event]
    edges: list[Edge]
    forbidden_by: list[str]


@closed
class ModelAnswer(TypedDict):
    model: str
    verdict: VerdictName
    unrolled: Annotated[int | None, "How often loops were followed; null: there is no bound."]
    variants: Annotated[list[str], "Translations of C for which it fails, where not all do."]
    reason: str
    execution: Execution | None
    check: Check | None


@closed
class CheckModels(TypedDict):
    file: str
    model: Annotated[str, "The models that were asked for, with commas between."]
    criterion: Literal["safety", "robust"]
    verdict: Annotated[VerdictName, "The worst of all models."]
    notes: list[str]
    reading: NotRequired[Reading]
    allow: NotRequired[Allow]
    warnings: Warnings
    models: Annotated[list[ModelAnswer], Size(1)]
    stats: dict[str, Any]
