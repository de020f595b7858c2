"""Answers do not depend on where a program lies: long and short paths, blanks, letters beyond ASCII."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.c_compiler import HAS_CLANG
from support.command_line import ROOT, memfence
from support.wrapping import unwrapped

NAMES = [
    "a",
    "b" * 40,
    "c" * 120,
    "d e",
    "mö x",
    "größe 漢字 🙂",
    "it's",
    "a#b$c&d;e",
    "(x) [y] {z}",
    "-dash",
]
EXAMPLES = {
    "lost_wakeup.pml": "examples/lost_wakeup.pml",
    "store_buffering.litmus": "examples/store_buffering.litmus",
    "musl_unlock.c": "examples/c/musl_unlock.c",
}
LINES = {
    "lost_wakeup.pml": ["check", "fix", "compare --no-fences", "explore"],
    "store_buffering.litmus": ["check"],
    "musl_unlock.c": ["check", "fix", "why", "check --model rc11", "run"],
}


@pytest.fixture(params=NAMES)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = tmp_path / request.param
    made.mkdir()
    return made


def asked(line: str, place: Path, *more: str) -> tuple[int, str]:
    verb, *options = line.split()
    done = memfence(verb, str(place), *options, *more, folder=place.parent, environment={"COLUMNS": "100"})
    told = (done.stdout + done.stderr).replace(json.dumps(str(place), ensure_ascii=False)[1:-1], "PLACE")
    return done.returncode, told.replace(str(place), "PLACE")


def at_home(name: str, home: Path) -> Path:
    home.mkdir(exist_ok=True)
    shutil.copy(ROOT / EXAMPLES[name], home / name)
    return home / name


def without_costs(found: Any) -> Any:
    """The object without what is another number in each run."""
    if isinstance(found, dict):
        return {key: without_costs(one) for key, one in found.items() if key != "stats" and "seconds" not in key}
    return [without_costs(one) for one in found] if isinstance(found, list) else found


CASES = [(name, line) for name, lines in LINES.items() for line in lines]


@pytest.mark.parametrize("name, line", CASES, ids=[f"{line} {name}" for name, line in CASES])
def test_every_folder_gives_the_same_answer(name: str, line: str, folder: Path, tmp_path: Path) -> None:
    if name.endswith(".c") and not HAS_CLANG:
        pytest.skip("neither ziglang nor clang is installed")
    shutil.copy(ROOT / EXAMPLES[name], folder / name)
    home = at_home(name, tmp_path / "home")
    here, there = asked(line, folder / name, "--json"), asked(line, home, "--json")
    assert here[0] == there[0] in (0, 1, 4)
    assert without_costs(json.loads(here[1])) == without_costs(json.loads(there[1]))


@pytest.mark.parametrize("length", [*range(1, 60), 100, 200])
def test_a_report_says_the_same_however_long_the_path_is(length: int, tmp_path: Path) -> None:
    place = tmp_path / ("x" * length) / "lost_wakeup.pml"
    place.parent.mkdir()
    shutil.copy(ROOT / EXAMPLES["lost_wakeup.pml"], place)
    code, told = asked("check", place)
    assert code == 1 and "the load overtook the store" in unwrapped(told)
