"""Certificates that were tampered with: none is accepted wrongly, by neither checker, and none crashes one.

A changed set of states may still prove the claim. What it proves is decided by the definition, in a few lines here:
both checkers must say the same. Changes of bytes that leave the container readable are judged the same way.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random

import pytest

from memfence.certificates.checker.question import question_of
from memfence.certificates.checker.refusal import Condition
from memfence.certificates.format.columns import Columns
from memfence.certificates.format.header import Claim, read_header
from memfence.certificates.format.sections import HEAD, PROGRAM, ROWS, SECTION
from memfence.certificates.writer.certify import certify
from memfence.models.fairness import is_true
from memfence.models.state import Failure, State
from memfence.models.steps import starts, successors
from memfence.pipeline import load, load_text
from memfence.program.ir import WIDEST, Program
from memfence.source import SourceText
from memfence.tasks.limits import Limits
from support.certificates import Chunks, Judgement, blocks_of, chunks_of, container, judge, row_of
from support.generators.wide_values import with_values
from support.mutated_certificates import cut_off, drop_a_chunk, flip_a_byte, flip_a_byte_of_a_chunk

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
CASES = [
    ("double_checked.pml", Claim(model="tso")),
    ("ticket_lock.pml", Claim(model="tso")),
    ("message_passing.pml", Claim(model="tso", invariant=("true",))),
    ("szymanski.pml", Claim(model="sc")),
    ("peterson.pml", Claim(model="sc", deadlock=True)),
    ("spsc_ring.pml", Claim(model="sc")),
    ("separated.pml", Claim(model="pso", deadlock=True)),
    ("separated.pml", Claim(model="pso", bound=1, forbid=("Q.r == 2",))),
    ("separated, wide", Claim(model="pso", deadlock=True)),
    ("separated, wide", Claim(model="tso")),
]
VALUES = {0: WIDEST.lo, 1: 0, 2: WIDEST.hi}
MUTATIONS = 30
MANY = 500
"""Of each case; the slow test makes 4,000 in all."""


SEPARATED = """#include "memfence.h"
byte x, y; active proctype P() { x = 1; sfence(); y = 1; x = 2 }
active proctype Q() { byte r, s; r = y; s = x; assert(r == 0 || s > 0) }
"""


@cache
def subject(name: str) -> Program:
    if name == "separated, wide":
        return with_values(subject("separated.pml"), VALUES)
    if name == "separated.pml":
        return load_text(SourceText(str(EXAMPLES / name), SEPARATED))
    return load(EXAMPLES / name)


@cache
def made(name: str, claim: Claim, folder: Path) -> bytes:
    path = folder / f"{name}-{claim.model}.mfc"
    certify(subject(name), claim, path, Limits(), whole=True)
    return path.read_bytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


def proves(program: Program, claim: Claim, states: set[State]) -> bool:
    """The definition: initial states inside, no step out, nothing bad, no deadlock where that is claimed."""
    question = question_of(claim, program)
    model = question.model.definition
    if not set(starts(question.program, model)) <= states:
        return False
    for state in states:
        after = [after for _, after in successors(question.program, model, state)]
        if any(isinstance(one, Failure) or one not in states for one in after):
            return False
        if question.bad is not None and is_true(question.program, state, question.bad):
            return False
        if claim.deadlock and not after:
            ends = zip(question.program.processes, state.locations, strict=True)
            if not all(p.locations[at].may_end or not any(p.leaving(at)) for p, at in ends):
                return False
    return True


def columns_of(program: Program, claim: Claim, chunks: Chunks) -> Columns:
    question = question_of(claim, program)
    (details,) = (json.loads(content) for kind, content in chunks if kind == SECTION)
    return Columns(question.program, question.model.buffering, details["capacity"])


def rows_of(columns: Columns, chunks: Chunks) -> list[bytes]:
    return [row for kind, content in chunks if kind == ROWS for row in columns.rows(content)]


def with_rows(chunks: Chunks, rows: list[bytes]) -> Chunks:
    first = next(n for n, (kind, _) in enumerate(chunks) if kind == ROWS)
    return [*chunks[:first], *((ROWS, block) for block in blocks_of(rows))]


# Mutations: each takes the chunks apart and gives bytes again.


def drop_a_state(columns: Columns, random: Random, chunks: Chunks) -> bytes:
    rows = rows_of(columns, chunks)
    rows.pop(random.randrange(len(rows)))
    return container(with_rows(chunks, rows))


def change_a_value(columns: Columns, random: Random, chunks: Chunks) -> bytes:
    rows = rows_of(columns, chunks)
    at = random.randrange(len(rows))
    changed = bytearray(rows[at])
    changed[random.randrange(len(changed))] ^= random.choice((1, 2, 3, 255))
    rows[at] = bytes(changed)
    return container(with_rows(chunks, sorted(set(rows))))


def add_a_neighbour(columns: Columns, random: Random, chunks: Chunks) -> bytes:
    rows = rows_of(columns, chunks)
    changed = bytearray(random.choice(rows))
    changed[random.randrange(len(changed))] ^= random.choice((1, 2))
    return container(with_rows(chunks, sorted({*rows, bytes(changed)})))


def swap_two_rows(columns: Columns, random: Random, chunks: Chunks) -> bytes:
    rows = rows_of(columns, chunks)
    a, b = random.randrange(len(rows)), random.randrange(len(rows))
    rows[a], rows[b] = rows[b], rows[a]
    return container(with_rows(chunks, rows))


def repeat_a_row(columns: Columns, random: Random, chunks: Chunks) -> bytes:
    rows = rows_of(columns, chunks)
    at = random.randrange(len(rows))
    return container(with_rows(chunks, [*rows[: at + 1], *rows[at:]]))


def forge_the_claim(columns: Columns, random: Random, chunks: Chunks) -> bytes:
    header = json.loads(chunks[0][1])
    claim = header["claim"]
    field, value = random.choice([
        ("model", "pso"), ("model", "tso"), ("model", "sc"), ("model", "arm"), ("forbid", ["true"]), ("bound", 1),
        ("invariant", ["false"]), ("criterion", "persistent"), ("criterion", "x"), ("deadlock", True),
        ("forbid", ["nobody@nowhere"]), ("per_variable", True), ("bound", 10**9), ("ltl", "<> false"),
    ])  # fmt: skip
    claim[field] = value
    return container([(HEAD, json.dumps(header).encode()), *chunks[1:]])


def lie_about_the_capacity(columns: Columns, random: Random, chunks: Chunks) -> bytes:
    capacity = random.choice((-1, 0, 1, 2, 5, 64, 65, 10**9, None, "1", True))
    section = json.dumps({"kind": "invariant", "capacity": capacity}).encode()
    return container([(kind, section if kind == SECTION else content) for kind, content in chunks])


def rename_the_section(columns: Columns, random: Random, chunks: Chunks) -> bytes:
    section = json.dumps({"kind": random.choice(("", "proof", None, "Invariant")), "capacity": 1}).encode()
    return container([(kind, section if kind == SECTION else content) for kind, content in chunks])


KINDS = [
    drop_a_state, change_a_value, add_a_neighbour, swap_two_rows, repeat_a_row, flip_a_byte, flip_a_byte_of_a_chunk,
    cut_off, drop_a_chunk, forge_the_claim, lie_about_the_capacity, rename_the_section,
]  # fmt: skip


def expected(program: Program, content: bytes) -> bool | None:
    """Whether the states of the certificate prove its claim; None where it cannot be read."""
    try:
        chunks = chunks_of(content)
        claim = read_header(chunks[0][1]).claim
        columns = columns_of(program, claim, chunks)
        rows = rows_of(columns, chunks)
        states = {columns.state(row) for row in rows}
    except Exception:
        return None
    if claim.criterion != "safety" or claim.ltl is not None or len(chunks) < 5 or rows != sorted(set(rows)):
        return False
    return proves(program, claim, states)


def judged(content: bytes, program: Program) -> Judgement:
    """What both checkers say; they must agree."""
    slow, fast = (judge(content, program, fast=fast) for fast in (False, True))
    assert (slow.condition is None) == (fast.condition is None), (slow, fast)
    return slow


def check_mutants(name: str, claim: Claim, folder: Path, count: int) -> None:
    program, content = subject(name), made(name, claim, folder)
    assert judged(content, program).condition is None
    assert expected(program, content)
    chunks = chunks_of(content)
    columns = columns_of(program, claim, chunks)
    random = Random(count)
    for number in range(count):
        mutation = KINDS[number % len(KINDS)]
        mutant = mutation(columns, random, chunks)
        found = judged(mutant, program)
        if found.condition is None:
            assert expected(program, mutant), f"{mutation.__name__} number {number} was accepted"
        elif mutation in (drop_a_state, add_a_neighbour):
            assert expected(program, mutant) is not True, f"{mutation.__name__} number {number}: {found}"


@pytest.mark.parametrize(("name", "claim"), CASES, ids=lambda value: str(getattr(value, "model", value)))
def test_no_certificate_that_was_tampered_with_is_accepted_wrongly(name: str, claim: Claim, folder: Path) -> None:
    check_mutants(name, claim, folder, MUTATIONS)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "claim"), CASES, ids=lambda value: str(getattr(value, "model", value)))
def test_none_of_many_is_accepted_wrongly(name: str, claim: Claim, folder: Path) -> None:
    check_mutants(name, claim, folder, MANY)


def test_the_certificate_of_another_program_is_refused(folder: Path) -> None:
    content = made("ticket_lock.pml", Claim(model="tso"), folder)
    assert judged(content, subject("peterson.pml")).condition is Condition.PROGRAM


def test_a_program_with_the_digest_of_another_is_refused(folder: Path) -> None:
    """Whoever forges the header and the text still has to prove something about the program at hand."""
    content = made("ticket_lock.pml", Claim(model="tso"), folder)
    stranger = chunks_of(made("message_passing.pml", Claim(model="tso", invariant=("true",)), folder))
    forged = [chunk for chunk in stranger if chunk[0] in (HEAD, PROGRAM)]
    rest = [chunk for chunk in chunks_of(content) if chunk[0] not in (HEAD, PROGRAM)]
    assert judged(container([*forged, *rest]), subject("message_passing.pml")).condition is not None


def test_rows_written_by_the_rules_are_those_that_the_search_wrote(folder: Path) -> None:
    for name, claim in CASES:
        program, chunks = subject(name), chunks_of(made(name, claim, folder))
        columns = columns_of(program, claim, chunks)
        rows = rows_of(columns, chunks)
        assert [row_of(columns, columns.state(row)) for row in rows] == rows
