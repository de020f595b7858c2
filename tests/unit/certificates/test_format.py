"""The bytes of certificates: what is written is read again, and what was damaged is recognised."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zlib

import pytest

from memfence.certificates.format.columns import Columns
from memfence.certificates.format.container import LONGEST, MAGIC, VERSION, NotACertificate, Writer, read_chunks
from memfence.certificates.format.header import (
    Claim,
    Header,
    Reading,
    header_bytes,
    options_of,
    read_header,
    reading_of,
)
from memfence.certificates.format.runs import steps_as_lists, steps_from_lists
from memfence.models.state import Commit, DropSeparator, ProcessStep, Rendezvous
from memfence.pipeline import load_text
from memfence.program.load_options import COptions, LoadOptions
from memfence.program.text.canonical import canonical_text
from memfence.source import SourceText
from support.models import spec

HEADER = Header(tool="t", program="p", digest="0" * 64, reading=Reading(int_bits=4), claim=Claim(model="tso"))


def written(*chunks: tuple[bytes, bytes]) -> bytes:
    file = io.BytesIO()
    writer = Writer(file)
    for kind, content in chunks:
        writer.add(kind, content)
    writer.close()
    return file.getvalue()


def read(content: bytes) -> list[tuple[bytes, bytes]]:
    return [(chunk.kind, chunk.content) for chunk in read_chunks(io.BytesIO(content))]


def test_chunks_come_back_as_they_were_written() -> None:
    chunks = [(b"HEAD", b"{}"), (b"ROWS", bytes(range(256)) * 40), (b"ROWS", b"")]
    assert read(written(*chunks)) == chunks


def test_every_flipped_byte_is_noticed_or_changes_nothing() -> None:
    chunks = [(b"HEAD", b"abc"), (b"ROWS", b"a state and another one")]
    content = written(*chunks)
    for at in range(len(content)):
        changed = bytearray(content)
        changed[at] ^= 0x55
        try:
            found = read(bytes(changed))
        except NotACertificate:
            continue
        assert [content for _, content in found] == [content for _, content in chunks], f"byte {at}"


def test_every_certificate_that_is_cut_off_is_noticed() -> None:
    content = written((b"HEAD", b"abc"), (b"ROWS", b"rows"))
    for length in range(len(content)):
        with pytest.raises(NotACertificate):
            read(content[:length])
    with pytest.raises(NotACertificate):
        read(content + b"x")


@pytest.mark.parametrize("said", [100, LONGEST, LONGEST + 1, 2**32 - 1])
def test_a_bomb_is_not_unpacked(said: int) -> None:
    packed = zlib.compress(bytes(LONGEST * 4), 9)
    frame = struct.pack("<4sIII", b"ROWS", len(packed), said, 0)
    tracemalloc.start()
    with pytest.raises(NotACertificate):
        read(MAGIC + bytes([VERSION]) + frame + packed)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * LONGEST


def test_another_version_is_not_read() -> None:
    with pytest.raises(NotACertificate, match="format 2"):
        read(MAGIC + bytes([VERSION + 1]))


def test_the_header_comes_back_as_it_was_written() -> None:
    assert read_header(header_bytes(HEADER)) == HEADER


@pytest.mark.parametrize(
    "change",
    [
        {"claim": None},
        {"claim": {"model": 3}},
        {"claim": {"model": "tso", "bound": -1}},
        {"claim": {"model": "tso", "bound": True}},
        {"claim": {"model": "tso", "forbid": "x"}},
        {"claim": {"model": "tso", "define": [["a"]]}},
        {"claim": {"model": "tso", "deadlock": 1}},
        {"claim": {"model": "tso", "trust": True}},
        {"reading": {"c": 3}},
        {"digest": 7},
        {"more": "x"},
    ],
)
def test_a_forged_header_is_not_read(change: dict[str, object]) -> None:
    found = json.loads(header_bytes(HEADER)) | change
    with pytest.raises(NotACertificate):
        read_header(json.dumps(found).encode())


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b"7"])
def test_what_is_not_an_object_is_not_a_header(text: bytes) -> None:
    with pytest.raises(NotACertificate):
        read_header(text)


@pytest.mark.parametrize(
    "said", [{"clang": "/bin/sh"}, {"include": ["/"]}, {"macros": "A"}, {"threads_bound": "2"}, {"overflow": 1}]
)
def test_a_certificate_does_not_say_which_compiler_to_run(said: dict[str, object]) -> None:
    with pytest.raises(NotACertificate):
        options_of(Reading(c=said))


def test_how_a_program_was_read_is_remembered_but_for_paths() -> None:
    options = LoadOptions(
        language="c", int_bits=5, c=COptions(macros=("A=1",), clang="/x", include=("y",), heap_bound=3)
    )
    again = options_of(reading_of(options), include=("z",))
    assert again == LoadOptions(language="c", int_bits=5, c=COptions(macros=("A=1",), include=("z",), heap_bound=3))


def test_steps_come_back_as_they_were_written() -> None:
    steps = (ProcessStep(1, 2), Rendezvous(ProcessStep(0, 3), ProcessStep(1, 4)), Commit(2, 1), DropSeparator(0))
    assert steps_from_lists(json.loads(json.dumps(steps_as_lists(steps)))) == steps


@pytest.mark.parametrize("found", [None, 3, [["fly", 1]], [["run", "a", 1]], [["run", 1]], ["run"]])
def test_what_is_no_step_is_not_read(found: object) -> None:
    with pytest.raises(NotACertificate):
        steps_from_lists(found)


def test_states_too_wide_for_the_format_are_refused() -> None:
    program = load_text(SourceText("t.pml", "byte x[200]; active proctype P() { x[0] = 1; x[1] = 2 }"))
    with pytest.raises(NotACertificate):
        Columns(program, spec("pso").buffering, 65)


def test_programs_that_differ_in_a_step_have_other_texts() -> None:
    texts = ["x = 1", "x = 2", "y = 1", "x = 1; x = 1", "atomic { x = 1 }", "assert(x == 1)"]
    programs = [load_text(SourceText("t.pml", f"byte x, y; active proctype P() {{ {text} }}")) for text in texts]
    assert len({canonical_text(program) for program in programs}) == len(texts)


def test_a_comment_does_not_change_the_text() -> None:
    plain, commented = "byte x; active proctype P() { x = 1 }", "/* note */ byte x;\n\nactive proctype P() { x = 1 }"
    programs = [load_text(SourceText("t.pml", text)) for text in (plain, commented)]
    assert canonical_text(programs[0]) == canonical_text(programs[1])
