"""Certificates that were tampered with: each mutation makes the bytes of a file from the chunks of a certificate."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

from memfence.certificates.checker.question import question_of
from memfence.certificates.format.automata import NUMBER
from memfence.certificates.format.columns import Columns, planes
from memfence.certificates.format.container import MAGIC, VERSION
from memfence.certificates.format.sections import HEAD, OBJECT, PROGRAM, ROWS, SECTION
from memfence.models.buffering import Buffering
from memfence.pipeline import load_text
from memfence.program.text.canonical import canonical_text, digest_of
from memfence.source import SourceText
from support.certificates import Chunks, blocks_of, container
from support.certified_samples import APART, FENCED, FOREVER, SAMPLES, TURNS, Sample


def width_of(sample: Sample, chunks: Chunks, at: int) -> int:
    """Bytes of a row of the block `at`."""
    details = json.loads(next(content for kind, content in reversed(chunks[:at]) if kind == SECTION))
    question = question_of(sample.claim, sample.program)
    plain = Columns(question.program, Buffering.NOWHERE, 0).width
    match details["kind"]:
        case "automata" | "triangular":
            return plain + NUMBER * len(sample.program.processes)
        case "invariant" | "state-robust" | "ranks":
            width = Columns(question.program, question.model.buffering, details["capacity"]).width
            return width + (2 * NUMBER if details["kind"] == "ranks" else 0)
        case _:
            return plain


def rows_changed(sample: Sample, random: Random, chunks: Chunks, change: Callable[[list[bytes]], list[bytes]]) -> bytes:
    places = [n for n, (kind, _) in enumerate(chunks) if kind == ROWS]
    if not places:
        return flip_a_byte_of_a_chunk(sample, random, chunks)
    at = random.choice(places)
    rows = change(list(planes(chunks[at][1], width_of(sample, chunks, at))))
    return container([*chunks[:at], *((ROWS, block) for block in blocks_of(rows)), *chunks[at + 1 :]])


def drop_a_row(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    return rows_changed(sample, random, chunks, lambda rows: (rows.pop(random.randrange(len(rows))), rows)[1])


def change_a_row(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    def change(rows: list[bytes]) -> list[bytes]:
        at = random.randrange(len(rows))
        changed = bytearray(rows[at])
        changed[random.randrange(len(changed))] ^= random.choice((1, 2, 3, 255))
        return sorted({*rows[:at], *rows[at + 1 :], bytes(changed)})

    return rows_changed(sample, random, chunks, change)


def add_a_row(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    def change(rows: list[bytes]) -> list[bytes]:
        changed = bytearray(random.choice(rows))
        changed[random.randrange(len(changed))] ^= random.choice((1, 2))
        return sorted({*rows, bytes(changed)})

    return rows_changed(sample, random, chunks, change)


def change_a_list(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    """Somewhere in an automaton, a run, the marks, the sites or a clause: an element less, twice, or another one."""
    places = [n for n, (kind, _) in enumerate(chunks) if kind == OBJECT]
    if not places:
        return change_a_row(sample, random, chunks)
    at = random.choice(places)
    found = json.loads(chunks[at][1])
    holder: Any = found
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        inner = [key for key in keys if isinstance(holder[key], dict | list) and holder[key]]
        if not inner or (isinstance(holder, list) and random.random() < 0.3):
            break
        holder = holder[random.choice(inner)]
    if keys:
        key, way = random.choice(keys), random.randrange(3)
        if way == 0:
            del holder[key]
        elif way == 1 and isinstance(holder, list):
            holder.insert(key, holder[key])
        else:
            old = holder[key]
            holder[key] = random.choice([old + 1, old - 1, 0]) if isinstance(old, int) else random.choice([None, [], 0])
    return container([*chunks[:at], (OBJECT, json.dumps(found).encode()), *chunks[at + 1 :]])


def flip_a_byte(_: object, random: Random, chunks: Chunks) -> bytes:
    content = bytearray(container(chunks))
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return bytes(content)


def flip_a_byte_of_a_chunk(_: object, random: Random, chunks: Chunks) -> bytes:
    """The checksums are right again."""
    at = random.randrange(len(chunks))
    kind, content = chunks[at]
    changed = bytearray(content or b"x")
    changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return container([*chunks[:at], (kind, bytes(changed)), *chunks[at + 1 :]])


def cut_off(_: object, random: Random, chunks: Chunks) -> bytes:
    content = container(chunks)
    return content[: random.randrange(len(content))]


def drop_a_chunk(_: object, random: Random, chunks: Chunks) -> bytes:
    at = random.randrange(len(chunks))
    return container([*chunks[:at], *chunks[at + 1 :]])


def repeat_a_chunk(_: object, random: Random, chunks: Chunks) -> bytes:
    at = random.randrange(len(chunks))
    return container([*chunks[: at + 1], *chunks[at:]])


def forge_the_claim(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    header = json.loads(chunks[0][1])
    field, value = random.choice([
        ("model", "pso"), ("model", "tso"), ("model", "sc"), ("forbid", ["true"]), ("forbid", ["x == 1"]), ("bound", 1),
        ("invariant", ["false"]), ("criterion", "persistent"), ("criterion", "robust"), ("criterion", "drf"),
        ("criterion", "trf"), ("criterion", "state-robust"), ("criterion", "safety"), ("deadlock", True), ("fences", 1),
        ("fences", 3), ("fences", None), ("price", 2), ("ltl", "<> (x == 2)"), ("fair", False), ("bound", None),
    ])  # fmt: skip
    header["claim"][field] = value
    return container([(HEAD, json.dumps(header).encode()), *chunks[1:]])


def rename_a_section(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    places = [n for n, (kind, _) in enumerate(chunks) if kind == SECTION]
    at = random.choice(places)
    details = json.loads(chunks[at][1]) | random.choice([
        {"kind": random.choice([one.kind for one in SAMPLES])},
        {"capacity": random.choice((-1, 0, 1, 2, 65, None, True))}, {"property": random.choice((-1, 0, 1, "0"))},
    ])  # fmt: skip
    return container([*chunks[:at], (SECTION, json.dumps(details).encode()), *chunks[at + 1 :]])


def forge_the_classes(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    """Other processes are said to be alike, or the states stand for none but themselves."""
    places = [n for n, (kind, content) in enumerate(chunks) if kind == SECTION and b"passing" in content]
    if not places:
        return rename_a_section(sample, random, chunks)
    at, numbers = random.choice(places), list(range(len(sample.program.processes)))
    details = json.loads(chunks[at][1])
    details["alike"] = random.choice([
        [], [numbers], [sorted(random.sample(numbers, 2))], [[0, 0, 1]], [[0], [1, 0]], [[1, 2]], [[len(numbers), 0]],
        [numbers[1:]], [numbers[:2], numbers[2:]], [[]],
    ])  # fmt: skip
    return container([*chunks[:at], (SECTION, json.dumps(details).encode()), *chunks[at + 1 :]])


def swap_programs(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    """Header and text of another program, or the text alone."""
    text = load_text(SourceText("other.pml", random.choice([APART, FENCED, FOREVER, TURNS])))
    header = json.loads(chunks[0][1])
    if random.random() < 0.5:
        header["digest"] = digest_of(canonical_text(text))
    return container([(HEAD, json.dumps(header).encode()), (PROGRAM, canonical_text(text).encode()), *chunks[2:]])


def bomb(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    """A chunk that unpacks to more than it says, or than there may be."""
    content = zlib.compress(bytes(1 << 26), 1)
    frame = struct.Struct("<4sIII")
    kind, said = random.choice([ROWS, OBJECT, SECTION, PROGRAM]), random.choice([10, 1 << 25, 1 << 26, (1 << 32) - 1])
    at = random.randrange(len(chunks))
    good = container(chunks[:at])[: -len(container([])) + len(MAGIC) + 1]
    assert good.startswith(MAGIC + bytes([VERSION]))
    return good + frame.pack(kind, len(content), said, 0) + content


MUTATIONS = [
    drop_a_row, change_a_row, add_a_row, change_a_list, flip_a_byte, flip_a_byte_of_a_chunk, cut_off, change_a_list,
    drop_a_chunk, repeat_a_chunk, forge_the_claim, rename_a_section, swap_programs, change_a_list, drop_a_row, bomb,
    forge_the_classes,
]  # fmt: skip
