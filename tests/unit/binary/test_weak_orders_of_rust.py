"""Rust programs whose orders are too weak for C11's model, after reported bugs: `run --model rc11` finds each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memfence
from memfence.binary.build import Sources, build_program
from support.rust import needs_rust

TEXT = Path(__file__).with_name("weak_orders.rs")
NAMES = re.findall(r'^        "(\w+)" =>', TEXT.read_text(), re.MULTILINE)
RACES = {"index_queue", "spin_lock", "arc", "spsc_ring"}
"""Where what goes wrong is a race on memory that is not atomic; elsewhere an assertion fails."""


@pytest.fixture(scope="module")
def weak(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_program(Sources(files=(str(TEXT),), edition="2021"), tmp_path_factory.mktemp("weak"))


@needs_rust
@pytest.mark.parametrize("name", NAMES)
def test_an_order_that_is_too_weak_is_found(weak: Path, name: str) -> None:
    result = memfence.run(weak, arguments=(name, "wrong"), model="rc11", timeout_seconds=60)
    assert result.verdict.value == "violated"
    assert {one.kind for one in result.findings} == {"race" if name in RACES else "failure"}


@needs_rust
@pytest.mark.parametrize("name", NAMES)
def test_the_order_that_was_chosen_is_enough(weak: Path, name: str) -> None:
    result = memfence.run(weak, arguments=(name, "right"), model="rc11", timeout_seconds=60)
    assert result.verdict.value == "holds", result.findings


@needs_rust
@pytest.mark.parametrize("name", NAMES)
def test_x86_does_not_mind(weak: Path, name: str) -> None:
    result = memfence.run(weak, arguments=(name, "wrong"), timeout_seconds=60)
    assert result.verdict.value == "holds", result.findings
