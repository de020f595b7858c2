"""Real libraries, as far as they are installed: what the table in docs/results says of them is so."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from support.command_line import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
import libraries
from library_table import MODULES, Module

WORDS = {"holds": "holds", "holds_up_to": "bounded", "violated": "violated", "unknown": "open"}
QUICK = ("ck_spinlock_fas", "urcu lfstack")


def table() -> dict[str, list[str]]:
    """The rows of the page by the name of the module: verdicts, and which door finds the weaker version."""
    lines = (ROOT / "docs/results/libraries.md").read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {name: rest for name, *rest in cells}


def installed(module: Module) -> Module:
    if libraries.version(module.package) is None:
        pytest.skip(f"the package {module.package} is not installed")
    if shutil.which("g++") is None:
        pytest.skip("g++ not found")
    return module


def test_the_page_has_every_module_and_its_sums_are_right() -> None:
    rows = table()
    assert [module.name for module in MODULES] == [name for name in rows if name != "module"]
    decided = sum(bool({"holds", "bounded", "violated"} & set(cells[:4])) for cells in rows.values())
    found = sum(cells[4].startswith(("check", "run")) for cells in rows.values())
    page = (ROOT / "docs/results/libraries.md").read_text()
    assert f"{decided} of {len(MODULES)} are decided" in page and f"{found} of {len(MODULES)} weaker" in page


@pytest.mark.parametrize(
    "module",
    [pytest.param(m, id=m.name, marks=() if m.name in QUICK else (pytest.mark.slow,)) for m in MODULES],
)
def test_run_answers_as_the_page_says(module: Module) -> None:
    verdict, _, why = libraries.ask(installed(module), ("run", "x86"), 60)
    assert WORDS[verdict] == table()[module.name][3], why


@pytest.mark.parametrize(
    "module",
    [pytest.param(m, id=m.name, marks=() if m.name == "ck_spinlock_ticket" else (pytest.mark.slow,)) for m in MODULES],
)
def test_the_weaker_version_is_found_by_the_door_of_the_page(module: Module, tmp_path: Path) -> None:
    verb, _, model = table()[module.name][4].partition(" ")
    if verb not in ("check", "run"):
        pytest.skip("no door finds it")
    assert libraries.weakened(installed(module), tmp_path)
    assert libraries.ask(module, (verb, model), 120, tmp_path)[0] == "violated"
