"""The monitor of recorded executions: Python hands over bytes or events, the core judges them in one pass."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader

from memfence import _core
from memfence.codes import Code
from memfence.deadline import Deadline
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.execution.event import Event
from memfence.execution.recording import NATIVE_KINDS, TraceEvent, render_trace
from memfence.records import Record
from memfence.source import SourceText
from memfence.tasks.limits import peak_megabytes

CHUNK_BYTES = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"
WORD = range(-(2**63), 2**63)
"""The numbers that the core can hold."""
_CODES = (Code.BAD_TRACE, Code.NOT_SEQUENTIAL, Code.TOO_LARGE)


class BorderlineEvent(Record):
    """`load` could have missed the write `missed`, and have seen `stale` (None: the trace does not say).

    `path` leads from `missed` to `load` in happens-before; it is empty where `missed` lies too far back to tell. Each
    of `gaps` is a store and a later load of its thread on that path, without a fence between them: a store buffer does
    not keep their order.
    """

    load: TraceEvent
    missed: TraceEvent
    stale: int | None
    path: tuple[TraceEvent, ...]
    gaps: tuple[tuple[TraceEvent, TraceEvent], ...]


class Monitored(Record):
    """What one pass over a trace found: the first borderline event, and how much was read up to it."""

    event: BorderlineEvent | None
    events: int
    threads: int
    addresses: int
    seconds: float
    peak_mb: float


def monitor_stream(name: str, stream: BufferedReader) -> Monitored:
    """Monitor JSON lines, gzipped or not. InputError for the first line that is not an event, or cannot be SC."""
    clock = Deadline()
    reader = _core.TraceReader()
    zipped = stream.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
    source = gzip.GzipFile(fileobj=stream) if zipped else stream
    while (chunk := _read(name, source)) and reader.feed(chunk):
        pass
    reader.finish()
    if reader.error is not None:
        raise _refusal(name, reader.error)
    return _monitored(reader, clock)


def monitor_events(name: str, events: Sequence[TraceEvent]) -> Monitored:
    """Monitor a record that is at hand, without making a text of it. InputError as for its lines."""
    clock = Deadline()
    for number, recorded in enumerate(events, 1):
        if any(value not in WORD for value in _numbers(recorded)):
            raise _refused_event(name, recorded, number, Code.BAD_TRACE, "a number needs more than 64 bits")
    run = _core.monitor_events([_line(recorded) for recorded in events])
    if run.complaint is not None:
        refused, kind = run.complaint.position, _CODES[run.complaint.kind]
        hint = run.complaint.hint or None
        raise _refused_event(name, events[refused - 1], refused, kind, run.complaint.message, hint)
    return _monitored(run, clock)


def _monitored(run: _core.TraceReader | _core.RecordedRun, clock: Deadline) -> Monitored:
    return Monitored(
        None if run.finding is None else _borderline(run.finding),
        run.events,
        run.threads,
        run.addresses,
        clock.elapsed,
        peak_megabytes(),
    )


def _numbers(recorded: TraceEvent) -> Iterator[int]:
    yield from (number for number in (recorded.event.value, recorded.step) if number is not None)
    yield from recorded.accepts or ()


_Line = tuple[str, str | None, str | None, int | None, str | None, int | None, list[int] | None]


def _line(recorded: TraceEvent) -> _Line:
    event = recorded.event
    return (
        recorded.op,
        None if event.thread is None else str(event.thread),
        None if event.address is None else str(event.address),
        event.value,
        event.place_text,
        recorded.step,
        None if recorded.accepts is None else list(recorded.accepts),
    )


def _refused_event(
    name: str, recorded: TraceEvent, number: int, code: Code, message: str, hint: str | None = None
) -> InputError:
    text = render_trace([recorded]).rstrip()
    return InputError([Diagnostic(code, message, Label(_OneLine(name, text, number).span(0, len(text))), hint=hint)])


def _read(name: str, stream: BufferedReader | gzip.GzipFile) -> bytes:
    try:
        return stream.read(CHUNK_BYTES)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        at = Label(SourceText(name, "").span(0, 0))
        message = f"cannot read `{name}`: the gzip data are damaged ({error})"
        raise InputError([Diagnostic(Code.UNREADABLE, message, at)]) from None


@dataclass(frozen=True, eq=False)
class _OneLine(SourceText):
    """A single line of a text too long to keep; it knows its number."""

    number: int = 1

    def line_of(self, offset: int) -> int:
        return self.number

    def column_of(self, offset: int) -> int:
        return offset + 1

    def line_text(self, line: int) -> str:
        return self.text


def _refusal(name: str, error: _core.TraceError) -> InputError:
    raw: bytes = error.text
    text = raw.decode("utf-8", "replace").rstrip("\r")
    start = len(raw[: error.column].decode("utf-8", "replace"))
    end = start + len(raw[error.column : error.column + error.length].decode("utf-8", "replace"))
    span = _OneLine(name, text, error.line).span(start, max(end, start + 1))
    message = error.message.decode("utf-8", "replace")
    return InputError([Diagnostic(_CODES[error.kind], message, Label(span), hint=error.hint or None)])


def _borderline(found: _core.TraceFinding) -> BorderlineEvent:
    return BorderlineEvent(
        _access(found.load),
        _access(found.missed),
        found.stale,
        tuple(_access(e) for e in found.path),
        tuple((_access(a), _access(b)) for a, b in found.gaps),
    )


def _access(event: _core.ShownEvent) -> TraceEvent:
    kind = NATIVE_KINDS[event.op]
    place = event.location or None
    return TraceEvent(Event(event.thread, kind, event.address or None, event.value, place=place), line=event.line)
