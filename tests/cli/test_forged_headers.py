"""Certificates whose header somebody has changed: `verify` says so at once, whatever numbers stand there."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from memfence.certificates.format.container import Writer, read_chunks
from memfence.certificates.format.header import Claim, Reading
from support.command_line import memfence

PROGRAM = "int x, y; active proctype P() { x = 1; y = x } active proctype Q() { int r; r = y; assert(r < 2) }"
NESTED: Any = []
for _ in range(400):
    NESTED = [NESTED]
WRONG = [10**9, 10**30, 2**63, -1, 0, 1.5, 1e308, "7", True, NESTED, {"a": 1}]
NUMBERS = [("reading", "int_bits"), ("claim", "bound"), ("claim", "fences"), ("claim", "price")]
FOR_C = ["threads_bound", "heap_bound", "recursion_bound"]


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("proof")
    (folder / "p.pml").write_text(PROGRAM)
    assert memfence("check", folder / "p.pml", "--certificate", folder / "p.mfc").returncode == 0
    return folder / "p.mfc"


def forged(proof: Path, change: Any, path: Path) -> Path:
    """The certificate with another header."""
    with proof.open("rb") as file:
        chunks = list(read_chunks(file))
    with path.open("wb") as file:
        writer = Writer(file)
        for chunk in chunks:
            content = chunk.content
            if chunk.kind == b"HEAD":
                header = json.loads(content)
                change(header)
                content = json.dumps(header).encode()
            writer.add(chunk.kind, content)
        writer.close()
    return path


def judged(proof: Path, change: Any, path: Path) -> int:
    done = memfence("verify", forged(proof, change, path), proof.parent / "p.pml", "--timeout", 20, "--memory", 500)
    assert "Traceback" not in done.stderr and "VALID" not in done.stdout, done.stdout
    return done.returncode


@pytest.mark.parametrize(("part", "name"), NUMBERS)
@pytest.mark.parametrize("value", WRONG, ids=lambda value: str(value)[:20])
def test_a_number_of_the_header_is_within_its_range(
    part: str, name: str, value: Any, proof: Path, tmp_path: Path
) -> None:
    code = judged(proof, lambda header: header[part].__setitem__(name, value), tmp_path / "forged.mfc")
    assert code == (1 if (name, value) == ("fences", 10**9) else 3)  # so many there may be, but nothing proves it


@pytest.mark.parametrize("name", FOR_C)
@pytest.mark.parametrize("value", WRONG, ids=lambda value: str(value)[:20])
def test_a_bound_on_reading_c_is_within_its_range(name: str, value: Any, proof: Path, tmp_path: Path) -> None:
    """Of a program in Promela, a bound in the range says nothing: all others are refused."""
    if value == 10**9:
        return
    code = judged(proof, lambda header: header["reading"]["c"].__setitem__(name, value), tmp_path / "forged.mfc")
    assert code == 3


def test_every_number_of_the_header_is_tried() -> None:
    parts = (("claim", Claim), ("reading", Reading))
    numbers = {(part, one.name) for part, kind in parts for one in fields(kind) if "int" in str(one.type)}
    assert numbers == set(NUMBERS)


def test_the_time_of_verify_is_limited(proof: Path) -> None:
    done = memfence("verify", proof, proof.parent / "p.pml", "--timeout", 0)
    assert (done.returncode, done.stdout) == (4, "") and "timeout 0 s" in done.stderr


def test_the_memory_of_verify_is_limited(tmp_path: Path) -> None:
    text = "byte a, b, c, d; active [4] proctype P() { do :: a++ :: b++ :: c++ :: a = 0 od }"
    (tmp_path / "large.pml").write_text(text)
    options = ("--forbid", "d == 1", "--model", "sc", "--reduce", "none")
    assert memfence("check", tmp_path / "large.pml", *options, "--certificate", tmp_path / "p.mfc").returncode == 0
    done = memfence("verify", tmp_path / "p.mfc", tmp_path / "large.pml", "--memory", 1)
    assert done.returncode == 3 and "allow more: --memory MB" in done.stderr
