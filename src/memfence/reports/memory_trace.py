"""Memory traces as JSON lines: what `memfence monitor` reads."""

from __future__ import annotations

import json
from collections.abc import Iterable

from memfence.engines.native.stateless import TraceEvent


def render_trace(events: Iterable[TraceEvent]) -> str:
    """One event a line, in order."""
    return "".join(f"{json.dumps(_object(event), ensure_ascii=False)}\n" for event in events)


def _object(event: TraceEvent) -> dict[str, object]:
    pairs: dict[str, object] = {
        "op": event.op,
        "thread": event.process,
        "addr": event.variable,
        "value": event.value,
        "loc": event.place,
        "step": event.step,
        "accepts": None if event.accepts is None else list(event.accepts),
    }
    return {key: value for key, value in pairs.items() if value is not None}
