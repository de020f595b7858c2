"""The container: a magic number, then chunks, each compressed by itself, the last one called `DONE`.

A reader holds one chunk at a time. A chunk says how long it is, compressed and not, before its content comes, and both
have limits: no file makes a reader allocate more than it was promised.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from memfence.records import Record

MAGIC = b"\x89MFC\r\n\x1a\n"
VERSION = 1
LONGEST = 1 << 25
"""Bytes of a chunk, compressed or not."""
_FRAME = struct.Struct("<4sIII")
"""Kind, length in the file, length of the content, CRC-32 of the content."""
LAST = b"DONE"
SMALL, LARGE = 1 << 9, 1 << 12
NONE, USUAL, FAST = 0, 6, 3
"""Levels of compression: blocks of states are large, and pack well enough by the fast one."""


class NotACertificate(Exception):
    """The bytes are not a certificate: damaged, cut off, of another version, or something else altogether."""


class Chunk(Record):
    """One piece. Kinds are four letters: `HEAD`, `PROG`, `TEXT`, `SECT`, `ROWS`, `JSON`, `DONE`."""

    kind: bytes
    content: bytes


class Writer:
    """Appends chunks to a file. `close` ends the certificate; without it, no reader accepts the file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        file.write(MAGIC + bytes([VERSION]))

    def add(self, kind: bytes, content: bytes) -> None:
        assert len(kind) == 4 and len(content) <= LONGEST, kind
        packed = zlib.compress(content, FAST if len(content) > LARGE else USUAL if len(content) > SMALL else NONE)
        self._file.write(_FRAME.pack(kind, len(packed), len(content), zlib.crc32(content)) + packed)

    def close(self) -> None:
        self.add(LAST, b"")


def read_chunks(file: BinaryIO) -> Iterator[Chunk]:
    """Every chunk but the last one; NotACertificate as soon as something is wrong with the bytes."""
    if file.read(len(MAGIC)) != MAGIC:
        raise NotACertificate("the file does not start like a certificate")
    version = file.read(1)
    if version != bytes([VERSION]):
        raise NotACertificate(f"format {int.from_bytes(version)} is not known here; this is a reader of {VERSION}")
    while (chunk := _read_chunk(file)).kind != LAST:
        yield chunk
    if chunk.content or file.read(1):
        raise NotACertificate("something follows the end")


def _read_chunk(file: BinaryIO) -> Chunk:
    frame = _exactly(file, _FRAME.size)
    kind, stored, length, checksum = _FRAME.unpack(frame)
    if max(stored, length) > LONGEST:
        raise NotACertificate(f"a chunk of {max(stored, length)} bytes; {LONGEST} are allowed")
    content = _unpacked(_exactly(file, stored), length)
    if zlib.crc32(content) != checksum:
        raise NotACertificate("a checksum is wrong")
    return Chunk(kind, content)


def _unpacked(packed: bytes, length: int) -> bytes:
    """The content, which is never longer than was said: what would be, is not even unpacked."""
    inflate = zlib.decompressobj()
    try:
        content = inflate.decompress(packed, length + 1)
    except zlib.error:
        raise NotACertificate("a chunk cannot be unpacked") from None
    if len(content) != length or not inflate.eof or inflate.unused_data or inflate.unconsumed_tail:
        raise NotACertificate("a chunk is not as long as it says")
    return content


def _exactly(file: BinaryIO, count: int) -> bytes:
    content = file.read(count)
    if len(content) != count:
        raise NotACertificate("the file ends too early")
    return content
