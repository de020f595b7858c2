"""Random programs in Rust and the same in C: `run` says the same of both."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import memfence
from memfence.binary.build import Sources, build_program
from support.generators.rust_and_c import Case, in_c, in_rust, random_case
from support.rust import needs_rust


def found(program: Path, number: int) -> tuple[object, ...]:
    result = memfence.run(program, arguments=(str(number),), timeout_seconds=120)
    kinds = sorted({one.kind for one in result.findings})
    confirmed = any(one.is_confirmed for one in result.findings)
    return result.verdict.value, result.counts.executions, result.counts.borderline, kinds, confirmed


def differences(cases: list[Case], folder: Path) -> list[tuple[int, object, object]]:
    rust, c = folder / "cases.rs", folder / "cases.c"
    rust.write_text(in_rust(cases))
    c.write_text(in_c(cases))
    (folder / "rust").mkdir()
    (folder / "c").mkdir()
    first = build_program(Sources(files=(str(rust),), edition="2021"), folder / "rust")
    second = build_program(Sources(files=(str(c),)), folder / "c")
    both = ((number, found(first, number), found(second, number)) for number in range(len(cases)))
    answers = list(both)
    assert len({told[0] for _, told, _ in answers}) > 1, "all answers are the same: the programs say nothing"
    return [(number, a, b) for number, a, b in answers if a != b]


@needs_rust
def test_a_few_random_programs_in_rust_are_their_translation_to_c(tmp_path: Path) -> None:
    chance = random.Random(40)
    assert differences([random_case(chance) for _ in range(8)], tmp_path) == []


@needs_rust
@pytest.mark.slow
def test_random_programs_in_rust_are_their_translation_to_c(tmp_path: Path) -> None:
    chance = random.Random(41)
    assert differences([random_case(chance) for _ in range(300)], tmp_path) == []
