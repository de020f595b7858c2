"""The report of `memfence monitor`, as text and as the object of the JSON contract."""

from __future__ import annotations

from collections.abc import Iterator

from memfence.engines.native.monitor import BorderlineEvent
from memfence.execution.recording import TraceEvent
from memfence.questions.monitor import MonitorResult
from memfence.report.formats.json import Object

_WORDS = {"ld": "loads", "st": "stores", "il": "interlocked", "direct": "stores directly", "wait": "waits for"}


def monitor_text(result: MonitorResult, *, quiet: bool = False) -> str:
    """The whole report: verdict, both accesses, the path between them, and what to fence."""
    monitored = result.monitored
    event = result.event
    if event is None:
        lines = [f"{result.path}: HOLDS (store-buffer safety of this execution): no load could have seen a stale value"]
    else:
        lines = [f"{result.path}: VIOLATED (store-buffer safety): the load in line {event.load.line} is borderline"]
    if quiet:
        return lines[0] + "\n"
    counted = f"{monitored.events:,} events, {monitored.threads:,} threads, {monitored.addresses:,} addresses"
    lines.append(f"  read    {counted}, {monitored.seconds:.2f} s, {monitored.peak_mb:.0f} MB")
    if event is not None:
        lines += ["", *_event_lines(event)]
    return "\n".join(lines) + "\n"


def _event_lines(event: BorderlineEvent) -> Iterator[str]:
    stale = "an older value" if event.stale is None else f"the stale value {event.stale}"
    yield f"The load    {_access(event.load)}"
    yield f"could miss  {_access(event.missed)}"
    yield f"and see {stale}: possible with store buffers, in no sequentially consistent execution."
    yield ""
    if not event.path:
        yield "The write lies too far back in the trace to show how it happens before the load."
        return
    yield "How the write happens before the load:"
    gaps = set(event.gaps)
    for position, access in enumerate(event.path):
        crossed = position > 0 and (event.path[position - 1], access) in gaps
        yield f"  {_access(access)}{'   <- a store buffer lets this load pass the store before it' if crossed else ''}"
    yield ""
    yield "What to fence (each of these):"
    for store, load in event.gaps:
        yield f"  thread {store.event.thread}: after {_place(store)}, before {_place(load)}"


def _access(access: TraceEvent) -> str:
    event = access.event
    what = "fence" if event.address is None else f"{_WORDS.get(access.op, access.op)} {event.address}"
    value = "" if event.value is None else f" = {event.value}"
    place = "" if event.place_text is None else f" at {event.place_text}"
    return f"line {access.line}: thread {event.thread} {what}{value}{place}"


def _place(access: TraceEvent) -> str:
    kind = "store to" if access.op == "st" else "load of"
    return access.event.place_text or f"the {kind} {access.event.address} (line {access.line})"


def monitor_object(result: MonitorResult) -> Object:
    """`memfence monitor --json`."""
    monitored = result.monitored
    return {
        "file": result.path,
        "verdict": result.verdict.value,
        "event": None if result.event is None else _borderline_object(result.event),
        "events": monitored.events,
        "threads": monitored.threads,
        "addresses": monitored.addresses,
        "stats": {"seconds": round(monitored.seconds, 6), "peak_mb": round(monitored.peak_mb, 3)},
    }


def _borderline_object(event: BorderlineEvent) -> Object:
    return {
        **_access_object(event.load),
        "stale": event.stale,
        "missed": _access_object(event.missed),
        "path": [_access_object(access) for access in event.path],
        "fences": [
            {"thread": store.event.thread, "after": _access_object(store), "before": _access_object(load)}
            for store, load in event.gaps
        ],
    }


def _access_object(access: TraceEvent) -> Object:
    event = access.event
    return {
        "line": access.line,
        "op": access.op,
        "thread": event.thread,
        "addr": event.address,
        "value": event.value,
        "loc": event.place_text,
    }
