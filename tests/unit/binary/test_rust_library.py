"""What Rust programs use of their standard library, a small program for each: only what is wrong is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memfence
from memfence.binary.build import Sources, build_program
from support.rust import needs_rust

TEXT = Path(__file__).with_name("whole_library.rs")
NAMES = re.findall(r'^ +"([vh]:\w+)" =>', TEXT.read_text(), re.MULTILINE)
MANY = {"h:sync1"}
"""Executions: not all are run in the time of a test."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_program(Sources(files=(str(TEXT),), edition="2021"), tmp_path_factory.mktemp("library"))


@needs_rust
@pytest.mark.parametrize("name", NAMES)
def test_what_is_wrong_is_found_and_nothing_else(library: Path, name: str) -> None:
    seconds = 2 if name in MANY else 60
    result = memfence.run(library, arguments=(name,), timeout_seconds=seconds)
    wrong = [one for one in result.findings if one.is_wrong]
    if name in MANY:
        assert not wrong
    elif name.startswith("v:"):
        assert result.verdict.value == "violated" and wrong
    else:
        assert result.verdict.value in ("holds", "holds_up_to") and not wrong
