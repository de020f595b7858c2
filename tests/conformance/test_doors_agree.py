"""One program, one meaning: whichever verb is asked, a small C or C++ program gets the verdict of `doors/expected.csv`.

A row has a file, macros, and the verdict under each model (x86 is tso). `not_by` names doors that do not claim to see
this: `run` executes what the compiler made of the program, so that it does not notice memory that was never
written, nor locals whose block was left.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import memfence
from memfence.tasks.answer import Verdict
from support.c_compiler import needs_clang
from support.sampling import listed

FOLDER = Path(__file__).with_name("doors")
ROWS = list(csv.DictReader((FOLDER / "expected.csv").open(), delimiter=";"))
EVERY = 9
"""The quick tests take so many rows at a time; the slow ones take all."""

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def title(row: dict[str, str]) -> str:
    return f"{row['file']}-{row['macros']}".replace("memory_order_", "")


def macros(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(part for part in row["macros"].split(" | ") if part)


def contradicts(found: Verdict, expected: str) -> bool:
    """Not to know is no contradiction; a bounded answer is one where something is wrong."""
    if found is Verdict.UNKNOWN:
        return False
    return (found is Verdict.VIOLATED) != (expected == "violated")


def checked(row: dict[str, str]) -> Iterator[tuple[str, Verdict]]:
    for model in ("sc", "tso", "pso"):
        yield model, memfence.check(FOLDER / row["file"], model=model, macros=macros(row), timeout_seconds=60).verdict
    asked = memfence.check_models(FOLDER / row["file"], "x86,rc11,armv8", macros=macros(row), timeout_seconds=120)
    for answer in asked.answers:
        yield answer.name, answer.verdict


def run(row: dict[str, str]) -> Iterator[tuple[str, Verdict]]:
    for model in ("sc", "tso", "pso"):
        yield model, memfence.run(FOLDER / row["file"], model=model, macros=macros(row), timeout_seconds=60).verdict


def rest_of(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Those that are tried where slow tests run."""
    return [row for number, row in enumerate(rows) if number % EVERY]


RUN = [row for row in ROWS if "run" not in row["not_by"]]


def check_against(row: dict[str, str], answers: Iterator[tuple[str, Verdict]]) -> None:
    expected = {**row, "x86": row["tso"]}
    found = [(model, verdict) for model, verdict in answers if contradicts(verdict, expected[model])]
    assert not found, f"{title(row)}: expected {[(model, expected[model]) for model, _ in found]}"


@needs_clang
@listed("row", ROWS[::EVERY], rest_of(ROWS), ids=title)
def test_check_gives_the_expected_verdict(row: dict[str, str]) -> None:
    check_against(row, checked(row))


@needs_gcc
@listed("row", RUN[::EVERY], rest_of(RUN), ids=title)
def test_run_gives_the_expected_verdict(row: dict[str, str]) -> None:
    check_against(row, run(row))
