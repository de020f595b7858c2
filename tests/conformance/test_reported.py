"""Programs that others reported, kept outside the project: the right answer, for the right reason, by every door.

An empty cell: the answer may be open (time, assembler of another processor), and is never asked for."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from support.c_compiler import needs_clang
from support.command_line import memfence
from support.corpus import CORPUS

REPORTED = CORPUS.parent / "reported"
ROWS = list(csv.DictReader((Path(__file__).parent / "reported.csv").open()))
MODELS = ("x86", "rc11", "armv8")
SYSTEM = (Path("/usr/include"), Path("/usr/include/x86_64-linux-gnu"))

needs_reported = pytest.mark.skipif(not REPORTED.is_dir(), reason="programs not found at ../shared/reported")
needs_gcc = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ not found")
pytestmark = needs_reported


def quick(row: dict[str, str]) -> bool:
    return row["file"].endswith(".c") and not row["file"].startswith(("libraries/ck", "libraries/urcu", "nest"))


def rows(door: str) -> list[object]:
    """A row for each program that is asked by this door; those that take long are marked."""
    asked = [row for row in ROWS if (row[door] if door == "run" else any(row[model] for model in MODELS))]
    marks = {True: (), False: (pytest.mark.slow,)}
    return [
        pytest.param(row, id=f"{row['file']} {row['macros']}".strip(), marks=marks[quick(row) and door != "run"])
        for row in asked
    ]


def sources(row: dict[str, str]) -> list[Path]:
    """The files of the program. Skips where a library that it includes is not installed."""
    path = REPORTED / row["file"]
    for header in re.findall(r"#include <(ck_|urcu/|boost/|atomic_queue/)([\w./]*)>", path.read_text()):
        if not any((folder / "".join(header)).exists() for folder in SYSTEM):
            pytest.skip(f"<{''.join(header)}> is not installed")
    return [path, path.with_name("test.c")] if row["file"].startswith("two/") else [path]


def defined(row: dict[str, str]) -> list[str]:
    return [word for macro in row["macros"].split() for word in ("-D", macro)]


@needs_clang
@pytest.mark.parametrize("row", rows("check"))
def test_check_gives_the_right_answer(row: dict[str, str]) -> None:
    models = [model for model in MODELS if row[model]]
    done = memfence("check", *sources(row), *defined(row), "--model", ",".join(models), "--json")
    answers = json.loads(done.stdout)["models"]
    assert {one["model"]: one["verdict"] for one in answers} == {model: row[model] for model in models}, done.stderr
    assert all(row["reason"] in one["reason"] for one in answers if one["verdict"] == "violated")


@needs_gcc
@pytest.mark.parametrize("row", rows("run"))
def test_run_gives_the_right_answer(row: dict[str, str]) -> None:
    done = memfence("run", *sources(row), *defined(row), "--json")
    assert json.loads(done.stdout)["verdict"] == row["run"], done.stderr
