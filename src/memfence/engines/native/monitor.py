"""The monitor of recorded executions: Python hands over bytes, the core parses and judges them in one pass."""

from __future__ import annotations

import gzip
import time
import zlib
from dataclasses import dataclass
from io import BufferedReader

from memfence import _core
from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.engines.native.stateless import OP_NAMES, OpName
from memfence.source import SourceText
from memfence.tasks.limits import peak_megabytes

CHUNK_BYTES = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"
_CODES = (Code.BAD_TRACE, Code.NOT_SEQUENTIAL, Code.TOO_LARGE)


@dataclass(frozen=True, slots=True)
class TracedAccess:
    """An event of the trace as it was written there."""

    line: int
    op: OpName
    thread: str
    address: str | None
    value: int | None
    place: str | None


@dataclass(frozen=True, slots=True)
class BorderlineEvent:
    """`load` could have missed the write `missed`, and have seen `stale` (None: the trace does not say).

    `path` leads from `missed` to `load` in happens-before; it is empty where `missed` lies too far back to tell. Each
    of `gaps` is a store and a later load of its thread on that path, without a fence between them: a store buffer does
    not keep their order.
    """

    load: TracedAccess
    missed: TracedAccess
    stale: int | None
    path: tuple[TracedAccess, ...]
    gaps: tuple[tuple[TracedAccess, TracedAccess], ...]


@dataclass(frozen=True, slots=True)
class Monitored:
    """What one pass over a trace found: the first borderline event, and how much was read up to it."""

    event: BorderlineEvent | None
    events: int
    threads: int
    addresses: int
    seconds: float
    peak_mb: float


def monitor_stream(name: str, stream: BufferedReader) -> Monitored:
    """Monitor JSON lines, gzipped or not. InputError for the first line that is not an event, or cannot be SC."""
    began = time.perf_counter()
    reader = _core.TraceReader()
    zipped = stream.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
    source = gzip.GzipFile(fileobj=stream) if zipped else stream
    while (chunk := _read(name, source)) and reader.feed(chunk):
        pass
    reader.finish()
    if reader.error is not None:
        raise _refusal(name, reader.error)
    found = reader.finding
    return Monitored(
        None if found is None else _borderline(found),
        reader.events,
        reader.threads,
        reader.addresses,
        time.perf_counter() - began,
        peak_megabytes(),
    )


def _read(name: str, stream: BufferedReader | gzip.GzipFile) -> bytes:
    try:
        return stream.read(CHUNK_BYTES)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        at = Label(SourceText(name, "").span(0, 0))
        message = f"cannot read `{name}`: the gzip data are damaged ({error})"
        raise InputError([Diagnostic(Code.UNREADABLE, message, at)]) from None


@dataclass(frozen=True, eq=False)
class _Line(SourceText):
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
    span = _Line(name, text, error.line).span(start, max(end, start + 1))
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


def _access(event: _core.ShownEvent) -> TracedAccess:
    return TracedAccess(
        event.line, OP_NAMES[event.op], event.thread, event.address or None, event.value, event.location or None
    )
