"""The parts of a certificate in their order: header, program, places, then sections, each with its chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from memfence.certificates.format.container import Chunk, NotACertificate, read_chunks
from memfence.certificates.format.header import Header, read_header, read_object
from memfence.records import Record

HEAD, PROGRAM, PLACES, SECTION, ROWS, OBJECT = b"HEAD", b"PROG", b"TEXT", b"SECT", b"ROWS", b"JSON"
BYTES_FOR_ONE = 32
"""What a byte of JSON may take in memory: `[],` is three bytes, and a list of 64."""


@dataclass(slots=True)
class Section:
    """`kind` and `details` are what its first chunk says. Its chunks can be read once, before the next section.

    `most_bytes`: of the lists in `JSON` chunks, all together; MemoryError for more.
    """

    kind: str
    details: dict[str, Any]
    _chunks: Iterator[Chunk]
    most_bytes: int = 1 << 28
    _waiting: Chunk | None = None

    def chunks(self, kind: bytes) -> Iterator[bytes]:
        """The contents of the next chunks, as long as they are of this kind."""
        while (chunk := self._waiting or next(self._chunks, None)) is not None:
            self._waiting = None
            if chunk.kind != kind:
                self._waiting = chunk
                return
            self.most_bytes -= len(chunk.content) if kind == OBJECT else 0
            if self.most_bytes < 0:
                raise MemoryError
            yield chunk.content

    def number(self, name: str, *, most: int) -> int:
        """A number from 0 to `most` among the details."""
        value = self.details.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise NotACertificate(f"`{name}` of a section is not a number from 0 to {most}")
        return value

    def end(self) -> Chunk | None:
        """The chunk behind the section; NotACertificate where chunks of the section itself are left."""
        after = self._waiting or next(self._chunks, None)
        self._waiting = None
        if after is not None and after.kind != SECTION:
            raise NotACertificate("a section has a chunk that does not belong there")
        return after


class Opened(Record):
    """A certificate of which the beginning was read. `text`: the program, as text; `places`: where its steps stand."""

    header: Header
    text: str
    places: str
    _chunks: Iterator[Chunk]

    def sections(self, *, most_bytes: int) -> Iterator[Section]:
        """Each section in turn; whoever takes it reads all its chunks. `most_bytes`: of their lists in memory."""
        chunk = next(self._chunks, None)
        while chunk is not None:
            if chunk.kind != SECTION:
                raise NotACertificate("a section was expected")
            details = read_object(chunk.content)
            section = Section(str(details.get("kind")), details, self._chunks, most_bytes // BYTES_FOR_ONE)
            yield section
            chunk = section.end()


def open_certificate(file: BinaryIO) -> Opened:
    """Read up to the first section; NotACertificate if this is none."""
    chunks = read_chunks(file)
    header = read_header(_next(chunks, HEAD))
    return Opened(header, _text(_next(chunks, PROGRAM)), _text(_next(chunks, PLACES)), chunks)


def _next(chunks: Iterator[Chunk], kind: bytes) -> bytes:
    chunk = next(chunks, None)
    if chunk is None or chunk.kind != kind:
        raise NotACertificate(f"the chunk `{kind.decode()}` is missing")
    return chunk.content


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise NotACertificate("a text is not UTF-8") from None
