"""What a maintainer sees of a bug in C: the report of `memfence check`. UPDATE_GOLDEN=1 writes `runs/`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import memfence
from memfence.report.describe.check_text import render_text
from support.c_compiler import needs_clang

pytestmark = needs_clang
ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).with_name("runs")
EXAMPLES = ("musl_unlock", "ck_epoch_begin", "treiber_aba", "sober_lost_wakeup")
"""A fence that is missing, freed memory that is read, calls of calls, threads that wait for ever."""


def report(name: str) -> str:
    text = render_text(memfence.check(f"examples/c/{name}.c", model="tso"))
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("  search"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_report_is_the_expected_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    actual, expected = report(name), FOLDER / f"{name}.expected"
    if os.environ.get("UPDATE_GOLDEN"):
        expected.write_text(actual, encoding="utf-8")
    assert actual == expected.read_text(encoding="utf-8")


def test_no_report_shows_a_name_that_the_user_did_not_write() -> None:
    for path in FOLDER.glob("*.expected"):
        text = path.read_text(encoding="utf-8")
        assert not any(internal in text for internal in ("%", "thread1.", ".__", "freed(")), path.name
