"""The record of one SC execution: its events in the order in which they happened, and as JSON lines.

The lines are what `memfence monitor` reads and `memfence explore --save-trace` writes (docs/guide/recording.md);
programs that record themselves write them, too. Files are read by the native core (`engines.monitor`), never here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Literal

from memfence.execution.event import Event, EventKind
from memfence.execution.graph import ExecutionGraph, GraphBuilder
from memfence.records import Record

OpName = Literal["ld", "st", "il", "fence", "direct", "sync", "wait", "init"]
OP_OF: dict[EventKind, OpName] = {
    "load": "ld",
    "store": "st",
    "rmw": "il",
    "fence": "fence",
    "direct store": "direct",
    "sync": "sync",
    "wait": "wait",
    "init": "init",
}
"""What the lines call each kind. The native core numbers them in this order."""

NATIVE_KINDS: tuple[EventKind, ...] = tuple(kind for kind in OP_OF if kind != "init")


class TraceEvent(Record):
    """An event of a record. Consecutive events with the same `step` happen at one moment.

    `accepts`: a load with another value would not have gone on. `line`: where it stands in the file it comes from.
    """

    event: Event
    step: int | None = None
    accepts: tuple[int, ...] | None = None
    line: int | None = None

    @property
    def op(self) -> OpName:
        return OP_OF[self.event.kind]


def render_trace(events: Iterable[TraceEvent]) -> str:
    """One event a line, in order."""
    return "".join(f"{json.dumps(_object(event), ensure_ascii=False)}\n" for event in events)


def _object(recorded: TraceEvent) -> dict[str, object]:
    event = recorded.event
    pairs: dict[str, object] = {
        "op": recorded.op,
        "thread": event.thread,
        "addr": event.address,
        "value": event.value,
        "loc": event.place_text,
        "step": recorded.step,
        "accepts": None if recorded.accepts is None else list(recorded.accepts),
    }
    return {key: value for key, value in pairs.items() if value is not None}


def recording_graph(recorded: Sequence[TraceEvent]) -> ExecutionGraph:
    """The graph of what happened: questions (`wait`, and its step) and initial values are no part of it.

    Under SC a load reads the last store to its address. The steps are numbered from 0.
    """
    builder = GraphBuilder()
    step, before, asked = -1, None, False
    for entry in recorded:
        joins = entry.step is not None and entry.step == before
        if not joins:
            step, before, asked = step + 1, entry.step, entry.event.kind == "wait"
        if not asked and entry.event.kind != "init":
            builder.add(entry.event, step)
    return builder.build()
