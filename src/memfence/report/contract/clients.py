"""`memfence test --json`: the clients of objects."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from memfence.report.contract.parts import Count, Seconds, VerdictName


class TestedClient(TypedDict):
    calls: Annotated[list[list[str]], "What each thread calls."]
    verdict: VerdictName
    models: Annotated[dict[str, VerdictName], "The verdict under each model."]
    outcomes: Annotated[Count, "How many outcomes the calls may have."]
    seconds: Seconds


class FailingClient(TypedDict):
    client: str
    model: str
    reason: str
    outcome: Annotated[
        dict[str, int] | None, "The outcome that no order of the calls gives; null where it fails in another way."
    ]
    allowed: Annotated[list[dict[str, int]], "The outcomes that some order gives."]
    program: Annotated[str, "The client as a program that stands alone beside the files of the object."]
    answer: Annotated[dict[str, Any], "As an entry of `models` of `memfence check --model LIST --json`."]


class TestedObject(TypedDict):
    name: str
    verdict: VerdictName
    criterion: Literal["serialisable", "linearizable", "quiescent"]
    models: list[str]
    clients_in_all: Annotated[Count, "Clients of the shapes that were asked for."]
    clients_left_out: Annotated[Count, "Those that were not looked at."]
    clients_stuck: Annotated[Count, "Those without an order of the calls that comes to an end."]
    clients: list[TestedClient]
    failing: Annotated[FailingClient | None, "The smallest client that fails."]
    notes: list[str]


class TestStats(TypedDict):
    seconds: Seconds


class Test(TypedDict):
    file: str
    verdict: Annotated[VerdictName, "The worst of all objects. holds_up_to: some clients were left out, or bounded."]
    objects: list[TestedObject]
    stats: TestStats
