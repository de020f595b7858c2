"""Certificates of every kind that were tampered with: none is accepted wrongly, none crashes a checker.

What was changed may still be a proof: `twins/certificates.py` decides that.
"""

from __future__ import annotations

import io
import tracemalloc
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from memfence.certificates.checker.native import NotForTheFastChecker
from memfence.certificates.checker.verify import verify
from memfence.certificates.format.sections import OBJECT, ROWS, SECTION
from support.certificates import chunks_of, container, judge
from support.certified_samples import SAMPLES, Sample, made
from support.mutated_certificates import MUTATIONS, width_of
from twins.certificates import is_proof

FEW, MANY = 26, 260


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


def check_mutants(sample: Sample, folder: Path, count: int) -> int:
    """How many mutations were accepted, each of them a proof."""
    program, chunks = sample.program, made(sample, folder)
    assert judge(container(chunks), program).condition is None
    assert is_proof(program, chunks)
    random, accepted = Random(count), 0
    for number in range(count):
        mutation = MUTATIONS[number % len(MUTATIONS)]
        mutant = mutation(sample, random, chunks)
        found = judge(mutant, program).condition
        with suppress(NotForTheFastChecker):
            assert (judge(mutant, program, fast=True).condition is None) == (found is None)
        if found is None:
            accepted += 1
            assert is_proof(program, chunks_of(mutant)), f"{mutation.__name__} number {number} was accepted"
    return accepted


def name_of(sample: Sample) -> str:
    return f"{sample.kind} {sample.claim.criterion} {sample.claim.model}"


@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_no_certificate_of_any_kind_is_accepted_wrongly(sample: Sample, folder: Path) -> None:
    assert check_mutants(sample, folder, FEW) < FEW // 2


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_none_of_many_of_any_kind_is_accepted_wrongly(sample: Sample, folder: Path) -> None:
    """4,940 in all."""
    assert check_mutants(sample, folder, MANY) < MANY // 2


@pytest.mark.parametrize("kind", [ROWS, OBJECT])
def test_a_file_that_unpacks_to_gigabytes_takes_little_memory(folder: Path, kind: bytes) -> None:
    """Blocks of rows that repeat, and lists of empty lists, each of them small in the file."""
    sample = next(one for one in SAMPLES if one.kind == "automata")
    lists = b'{"automata": [' + b"[[[]],[]]," * 2_000 + b"[[[]],[]]]}"
    rows = bytes(width_of(sample, [(SECTION, b'{"kind": "automata"}')], 1) * (1 << 9))
    first = [*made(sample, folder)[:3], (SECTION, b'{"kind": "automata"}'), (OBJECT, lists)]
    content = container([*first, *[(kind, lists if kind == OBJECT else rows)] * 40])
    tracemalloc.start()
    with pytest.raises(MemoryError):
        verify(io.BytesIO(content), sample.program, most_bytes=2 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 << 20
