"""`memfence fix --json`, `why --json` and `compare --json`: which fences, and which criteria without them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from memfence.report.contract.check import Check
from memfence.report.contract.parts import (
    AskedModel,
    AskedName,
    Assumptions,
    Count,
    CriterionName,
    Diagnostic,
    ModelName,
    Proof,
    RelaxedName,
    Seconds,
    Step,
    VerdictName,
)
from memfence.report.contract.shape import Least, closed

Edits = Annotated[int, "Edits of the text.", Least(0)]
Instances = Annotated[int, "Fence instructions over all processes.", Least(0)]
Trace = Annotated[list[Step] | None, "A run that was replayed through the definition of the memory model."]


class Fence(TypedDict):
    """One edit: a fence after (or before) the statement in that line, or its write locked. `trace`: a run that only
    this fence stops."""

    kind: Annotated[
        Literal["mfence", "sfence", "locked", "atomic"],
        "`atomic`: the write of a DVE transition, for an LTL property.",
    ]
    style: NotRequired[Annotated[Literal["fence", "store", "asm"], "How C writes it; fence elsewhere."]]
    file: str | None
    line: int | None
    process: str
    processes: NotRequired[list[str]]
    location: str
    after: str | None
    before: NotRequired[str | None]
    cost: NotRequired[Count]
    loop_level: NotRequired[Count]
    trace: NotRequired[Trace]
    why: NotRequired[list[str]]


class Set(TypedDict):
    fences: list[Fence]
    count: Edits
    instances: Instances
    cost: Count


class FixStats(TypedDict):
    sites: Count
    clauses: Count
    checks: Count
    states: Count
    seconds: Seconds
    peak_mb: Seconds


class Fix(TypedDict):
    file: NotRequired[str]
    model: NotRequired[RelaxedName]
    asked_model: NotRequired[AskedModel]
    criterion: NotRequired[AskedName]
    property: NotRequired[Annotated[str, "What was asked; for a violation, the property that is broken."]]
    finding: NotRequired[
        Annotated[str | None, "What goes wrong, which object, and where: `assert(x == 1) fails (line 7)`."]
    ]
    verdict: Literal["fixed", "already_holds", "impossible", "unknown"]
    scope: NotRequired[str]
    bounded: NotRequired[
        Annotated[bool, "Whether the answer is about runs within the bounds that notes name (exit code 4)."]
    ]
    notes: NotRequired[list[str]]
    assumptions: Assumptions
    warnings: Annotated[
        list[Diagnostic],
        "What is legal but may not mean what its author thinks, such as plain accesses of C that race.",
    ]
    minimise: NotRequired[Literal["count", "cost", "first"]]
    minimum: Annotated[bool, "Nothing with less `minimise` is enough."]
    fences: list[Fence]
    count: Edits
    instances: Instances
    cost: NotRequired[Count]
    sets: Annotated[list[Set] | None, "Every minimal set, with --all."]
    sets_complete: NotRequired[bool | None]
    in_one_step: NotRequired[Set | None]
    diff: NotRequired[Annotated[str, "A unified diff that applies."]]
    patched: NotRequired[str | None]
    trace: NotRequired[Trace]
    limit: NotRequired[str | None]
    advice: NotRequired[str | None]
    stats: FixStats


class FenceOfText(TypedDict):
    kind: Annotated[
        Literal["mfence", "sfence", "thread_fence", "locked", "store", "load", "rmw"],
        "C has more than fences: seq_cst stores and loads, and read-modify-writes.",
    ]
    text: NotRequired[Annotated[str | None, "The text that it is in the source."]]
    file: str | None
    line: int | None


class Needed(FenceOfText):
    need: str
    without: Check


class WhyCriterion(TypedDict):
    file: str
    model: RelaxedName
    asked_model: NotRequired[AskedModel]
    criterion: CriterionName
    property: str
    verdict: VerdictName
    assumptions: Assumptions
    fences: list[Needed]
    droppable_together: list[FenceOfText]
    droppable_largest: NotRequired[Annotated[bool, "No larger set of the redundant ones can go together."]]


class Why(TypedDict):
    criteria: list[WhyCriterion]


@closed
class RowStats(TypedDict):
    states: int
    transitions: int
    seconds: float


@closed
class Row(TypedDict):
    criterion: CriterionName
    model: ModelName
    verdict: VerdictName
    bound: int | None
    implied_by: Annotated[str | None, "the name of the answer this one was derived from; null: computed"]
    limit: str | None
    fences: Annotated[
        int | None,
        "edits of the text that make it hold; null: not asked for, not found, or fences cannot help",
        Least(0),
    ]
    fences_are_fewest: Annotated[bool | None, "whether it was proved that fewer are not enough"]
    fences_cannot_help: bool | None
    stats: RowStats
    proof: NotRequired[
        Annotated[
            Proof,
            "Only with --verify, of an answer that is a proof. `missing`: why none could be checked.",
        ]
    ]


RowName = Literal[
    "drf",
    "trf",
    "persistent",
    "robust-tso",
    "robust-pso",
    "state-robust-tso",
    "state-robust-pso",
    "safety-sc",
    "safety-tso",
    "safety-pso",
]


@closed
class Compare(TypedDict):
    file: str
    notes: list[str]
    assumptions: NotRequired[Assumptions]
    verdict: NotRequired[Annotated[Literal["unknown"], "Only where it was interrupted; then there are no answers."]]
    limit: NotRequired[str]
    stats: NotRequired[dict[str, Any]]
    criteria: dict[RowName, Row]
    affected: NotRequired[
        Annotated[
            dict[Literal["tso", "pso"], bool | None],
            "Of infinite runs: whether the answer differs from that under SC; null: not known.",
        ]
    ]
