"""Certificates from any set of states, right or wrong, and what both checkers say of them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import dataclass

from memfence.certificates.checker.native import NotForTheFastChecker
from memfence.certificates.checker.refusal import Checked, Condition, Refused
from memfence.certificates.checker.verify import verify
from memfence.certificates.format.columns import ROWS_IN_A_BLOCK, Columns, row_of
from memfence.certificates.format.container import NotACertificate, Writer, read_chunks
from memfence.certificates.format.header import Claim, Header, Reading, header_bytes
from memfence.certificates.format.sections import HEAD, PLACES, PROGRAM, ROWS, SECTION
from memfence.program.ir import Program
from memfence.program.text.canonical import canonical_text, digest_of

Chunks = list[tuple[bytes, bytes]]
"""The kind and the content of each."""


def blocks_of(rows: Iterable[bytes]) -> list[bytes]:
    """Rows as blocks of byte planes, in the order given."""
    listed = list(rows)
    parts = [listed[at : at + ROWS_IN_A_BLOCK] for at in range(0, len(listed), ROWS_IN_A_BLOCK)]
    return [b"".join(bytes(plane) for plane in zip(*part, strict=True)) for part in parts]


def container(chunks: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A certificate of these chunks."""
    file = io.BytesIO()
    writer = Writer(file)
    for kind, content in chunks:
        writer.add(kind, content)
    writer.close()
    return file.getvalue()


def chunks_of(content: bytes) -> Chunks:
    return [(chunk.kind, chunk.content) for chunk in read_chunks(io.BytesIO(content))]


def beginning(program: Program, claim: Claim) -> Chunks:
    """Header, program and places."""
    text = canonical_text(program)
    header = Header(tool="test", program=program.name, digest=digest_of(text), reading=Reading(), claim=claim)
    return [(HEAD, header_bytes(header)), (PROGRAM, text.encode()), (PLACES, b"")]


def invariant_certificate(program: Program, claim: Claim, columns: Columns, capacity: int, rows: list[bytes]) -> bytes:
    section = (SECTION, json.dumps({"kind": "invariant", "capacity": capacity}).encode())
    return container([*beginning(program, claim), section, *((ROWS, block) for block in blocks_of(rows))])


@dataclass(frozen=True, slots=True)
class Judgement:
    """`condition`: the first one that is violated; None: valid; "not a certificate" where it is none."""

    condition: Condition | str | None


def judge(content: bytes, program: Program, *, fast: bool = False, proved: bool = False) -> Judgement:
    """What a checker says; any other exception is a fault of the checker."""
    try:
        checked = verify(io.BytesIO(content), program, fast=fast, proved=proved)
    except Refused as refused:
        return Judgement(refused.condition)
    except NotACertificate:
        return Judgement("not a certificate")
    assert isinstance(checked, Checked)
    return Judgement(None)


__all__ = ["Judgement", "NotForTheFastChecker", "beginning", "container", "invariant_certificate", "judge", "row_of"]
