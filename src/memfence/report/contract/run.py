"""`memfence run --json` and `monitor --json`: executions of compiled programs."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from memfence.report.contract.parts import Count, Seconds, VerdictName
from memfence.report.contract.shape import Least, Size, closed

Taken = Annotated[list[int], "Who takes each step; -1-t: a store of thread t reaches memory."]


@closed
class PlaceOfRun(TypedDict):
    file: str
    line: Annotated[int, Least(1)]
    function: str


@closed
class StepOfRun(TypedDict):
    thread: Count
    kind: Annotated[
        Literal["load", "store", "rmw", "fence", "call", "begin", "end", "failure", "flush"],
        "flush: a store leaves the buffer and reaches memory.",
    ]
    variable: str | None
    value: int | None
    call: str | None
    spurious: Annotated[bool, "A wake-up without a signal, or a weak compare-exchange that fails for no reason."]
    at: PlaceOfRun | None


@closed
class FenceOfRun(TypedDict):
    thread: int
    after: PlaceOfRun | None
    before: PlaceOfRun | None
    text: str


@closed
class Buffered(TypedDict):
    executions: Count
    complete: Annotated[bool, "These are all executions with store buffers."]


@closed
class Bound(TypedDict):
    preemptions: NotRequired[int | None]
    random: NotRequired[int | None]
    seed: NotRequired[int | None]
    depth: NotRequired[int | None]
    rounds: NotRequired[int | None]
    spurious: NotRequired[
        Annotated[
            int | None,
            "Wake-ups without a signal and failures of weak compare-exchanges, at each place, of each thread.",
        ]
    ]
    simulated: NotRequired[int | None]


class Leak(TypedDict):
    text: str
    bytes: Count
    at: dict[str, Any] | None


@closed
class Confirmation(TypedDict):
    confirmed: bool
    kind: str | None
    attempts: int
    text: str
    schedule: Taken
    steps: list[StepOfRun]


@closed
class EventOfRun(TypedDict):
    thread: Count
    number: Annotated[int, "In its thread.", Least(0)]
    kind: Annotated[Literal["R", "W", "F", "C"], "Read, write, fence, choice of the environment."]
    order: Annotated[str, "As C calls it; empty: not atomic."]
    update: Annotated[bool, "Part of a read-modify-write that writes."]
    location: int
    value: int
    source: Annotated[
        list[int] | None, "Thread and number of the write that is read; null: the initial value, or none."
    ]
    waits: bool
    place: Annotated[int, "Of a write, in the order of its location.", Least(0)]


@closed
class RunFinding(TypedDict):
    kind: Literal["borderline", "deadlock", "lost wake-up", "failure", "race"]
    cause: str
    text: str
    thread: int | None
    at: PlaceOfRun | None
    executions: int
    schedule: Taken
    steps: list[StepOfRun]
    path: list[StepOfRun]
    fences: list[FenceOfRun]
    confirmation: Confirmation | None
    reason: NotRequired[Annotated[str, "Of a race: which order is missing."]]
    race: NotRequired[Annotated[list[StepOfRun], "Both accesses.", Size(2, 2)]]
    graph: NotRequired[Annotated[list[EventOfRun], "The execution, under models whose executions are graphs."]]


@closed
class RunStats(TypedDict):
    steps: Count
    redundant: Count
    reduced: bool
    restarts: Count
    threads: Count
    seconds: float
    seed: int


@closed
class Race(TypedDict):
    text: str
    accesses: Annotated[list[StepOfRun], Size(2, 2)]


@closed
class Run(TypedDict):
    files: list[str]
    verdict: VerdictName
    model: str
    reading: NotRequired[
        Annotated[
            Literal["c", "sv-comp"],
            "Which ends of the process are failures; sv-comp: abort and exit just end a run.",
        ]
    ]
    allow: NotRequired[Annotated[list[Literal["abort", "exit"]], "Ends of the process that are no failures."]]
    robust: NotRequired[
        Annotated[bool | None, "Whether every execution with store buffers is one without; null: open."]
    ]
    executions: Count
    borderline: Count
    confirmed: Annotated[int, "Findings that go wrong with store buffers.", Least(0)]
    failing: Count
    deadlocked: Count
    dropped: Annotated[int, "Executions that do not count: an assumption is false.", Least(0)]
    blocked: Annotated[
        int, "Executions that were begun and do not count: others cover them, or an assumption is false.", Least(0)
    ]
    buffered: Annotated[Buffered | None, "Executions with store buffers, where these were run."]
    bound: Annotated[Bound | None, "What the verdict is subject to; null: nothing, all executions were run."]
    limit: str | None
    fences: list[FenceOfRun]
    leaks: NotRequired[list[Leak]]
    findings: list[RunFinding]
    stats: RunStats
    races: Annotated[list[Race], "Warnings: plain accesses that nothing orders."]


class RunModels(TypedDict):
    files: list[str]
    verdict: Annotated[VerdictName, "The worst of all models."]
    model: Annotated[str, "The models, with commas between."]
    executions: Annotated[Count, "Of all models together."]
    blocked: Count
    models: Annotated[list[Run], "What each shows, as for one model."]


class Access(TypedDict):
    """An access of the trace; `line` is its line in the trace."""

    line: Annotated[int, Least(1)]
    op: str
    thread: str | int
    addr: str | None
    value: int | None
    loc: str | None


class MissingFence(TypedDict):
    thread: str | int
    after: Access
    before: Access


class BorderlineLoad(TypedDict):
    line: Annotated[int, Least(1)]
    op: str
    thread: str | int
    addr: str | None
    value: int | None
    loc: str | None
    stale: Annotated[int | None, "The value that the load could have seen."]
    missed: Access
    path: list[Access]
    fences: list[MissingFence]


class MonitorStats(TypedDict):
    seconds: Seconds
    peak_mb: Seconds


class Monitor(TypedDict):
    file: NotRequired[str]
    limit: NotRequired[str]
    verdict: Annotated[Literal["holds", "violated", "unknown"], "unknown: see `limit`; it was interrupted."]
    event: Annotated[BorderlineLoad | None, "The first borderline load."]
    events: NotRequired[Count]
    threads: NotRequired[Count]
    addresses: NotRequired[Count]
    stats: NotRequired[MonitorStats]
