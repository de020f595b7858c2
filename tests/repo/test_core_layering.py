"""The folders of the native core are layers: what a file includes stands in its own folder or in an earlier one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CORE = Path(__file__).resolve().parents[2] / "core"
ORDER = [
    "certificate", "certify", "machine", "models", "search", "symbolic", "dual", "execution", "attacks", "cluster",
    "trace", "stateless", "graphs", "bind", "tests",
]  # fmt: skip
MOST_LINES = 360
FILES = sorted(path for folder in ORDER for path in (CORE / folder).glob("*.?pp"))
INCLUDE = re.compile(r'^#include "(\w+)/(\w+\.hpp)"$', re.MULTILINE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_no_folder_of_the_core_includes_a_later_one(path: Path) -> None:
    here = ORDER.index(path.parent.name)
    for folder, name in INCLUDE.findall(path.read_text()):
        assert (CORE / folder / name).is_file(), f"{folder}/{name} does not exist"
        assert ORDER.index(folder) <= here, f"{path.relative_to(CORE)} includes {folder}/{name}"


def test_the_judge_of_certificates_searches_nothing() -> None:
    """What looks for proofs is in `certify/`: nobody has to believe it, and the checker includes none of it."""
    judge = [path for path in FILES if path.parent.name == "certificate"]
    assert [path.name for path in judge if "certify/" in path.read_text()] == []
    others = [path for path in FILES if path.parent.name not in ("certificate", "certify", "bind", "tests")]
    assert [
        path
        for path in others
        if {"certificate", "certify"} & {folder for folder, _ in INCLUDE.findall(path.read_text())}
    ] == []


def test_the_architecture_names_every_folder_of_the_core() -> None:
    text = (CORE.parent / "ARCHITECTURE.md").read_text()
    table = text.split("## The native core")[1]
    assert re.findall(r"^\| `(\w+)/` ", table, re.MULTILINE) == ORDER


def test_only_the_binding_knows_python() -> None:
    assert [path for path in FILES if path.parent.name != "bind" and "nanobind" in path.read_text()] == []


def test_every_folder_of_the_core_has_its_place_in_the_order() -> None:
    assert sorted(path.name for path in CORE.iterdir()) == sorted(ORDER)


def test_no_file_of_the_core_is_long() -> None:
    assert [path for path in FILES if len(path.read_text().splitlines()) > MOST_LINES] == []
