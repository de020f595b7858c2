"""`memfence explore --json` and `simulate --json`: runs one by one."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from memfence.report.contract.parts import Assumptions, Count, ModelName, Proof, Seconds, Step, VerdictName
from memfence.report.contract.shape import closed


class Iteration(TypedDict):
    preemptions: int | None
    interleavings: Count
    borderline: Count
    failed: Count
    complete: bool
    first_borderline_seconds: float | None
    first_failure_seconds: float | None
    seconds: Seconds
    seconds_without_monitor: float | None


class ExploreFinding(TypedDict):
    kind: Literal["assertion failure", "deadlock", "borderline", "walk"]
    text: NotRequired[str]
    schedule: dict[str, Any]
    trace: list[Step]
    why: list[str]


class ExploreStats(TypedDict):
    steps: Count
    redundant: Count
    seconds: Seconds


@closed
class Proofs(TypedDict):
    safe: Annotated[Proof, "`missing`: why none could be checked."]
    robust: NotRequired[Annotated[Proof, "As `safe`; only where executions were monitored."]]


class Explore(TypedDict):
    file: NotRequired[str]
    verdict: VerdictName
    interleavings: Count
    borderline: Count
    failed: NotRequired[Count]
    bound: Annotated[int | None, "The bound on preemptions that the verdict is subject to."]
    depth: NotRequired[int | None]
    limit: NotRequired[str | None]
    reduced: NotRequired[bool]
    deadlocked: NotRequired[Count]
    truncated: NotRequired[Count]
    notes: NotRequired[list[str]]
    assumptions: NotRequired[Assumptions]
    iterations: NotRequired[list[Iteration]]
    findings: NotRequired[list[ExploreFinding]]
    stats: NotRequired[ExploreStats]
    proofs: NotRequired[
        Annotated[
            Proofs,
            "Only with --verify. `safe`: no step of a run under SC fails. `robust`: every run under TSO has the "
            "trace of one under SC.",
        ]
    ]


class Schedule(TypedDict):
    kind: Literal["walk", "assertion failure"]
    model: ModelName
    memory: list[int]
    registers: list[list[int]]
    steps: list[dict[str, Any]]


@closed
class Simulate(TypedDict):
    file: str
    model: ModelName
    steps: Count
    failure: str | None
    schedule: Annotated[Schedule, "What --replay reads."]
    trace: list[Step]
    why: list[str]
    state: Annotated[dict[str, str], "`memory`, and where each process stands, as text."]
    choices: Annotated[list[str], "What can happen next; the first is number 1."]
