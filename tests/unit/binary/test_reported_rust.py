"""Rust programs after bugs that were reported in public: each is wrong, and its mended version is right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memfence
from memfence.binary.build import Sources, build_program
from support.rust import needs_rust

TEXT = Path(__file__).with_name("reported.rs")
NAMES = tuple(re.findall(r'^        "(\w+)" =>', TEXT.read_text(), re.MULTILINE))
FAILS = {
    "wake_by_ref": "the task sleeps, and its data is there",
    "seqlock": "a torn value",
    "core_latch": "a load of memory that was freed",
    "index_queue": "an empty slot",
    "spsc_ring": "another value",
    "spin_lock": "two had the lock",
    "arc": "a load of memory that was freed",
    "sleep_and_work": "nobody wakes the sleeper",
    "signal": "lost wake-up",
    "stack": "a load of memory that was freed",
}


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_program(Sources(files=(str(TEXT),), edition="2021"), tmp_path_factory.mktemp("reported"))


def test_every_program_has_its_failure() -> None:
    assert set(NAMES) == set(FAILS)


@needs_rust
@pytest.mark.parametrize("name", NAMES)
def test_the_bug_is_found(reported: Path, name: str) -> None:
    result = memfence.run(reported, arguments=(name, "wrong"), timeout_seconds=60)
    said = [one.message or one.kind for one in result.findings]
    said += [one.confirmation.message for one in result.findings if one.confirmation is not None]
    assert result.verdict.value == "violated" and any(FAILS[name] in text for text in said), said


@needs_rust
@pytest.mark.parametrize("name", NAMES)
def test_the_mended_version_is_right(reported: Path, name: str) -> None:
    result = memfence.run(reported, arguments=(name, "right"), timeout_seconds=60)
    wanted = "holds_up_to" if name == "signal" else "holds"  # wake-ups without a signal are bounded
    assert result.verdict.value == wanted, result.findings
