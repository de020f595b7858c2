"""The runtime keeps to itself: short files, only the part of the core that is shipped with it, and no Python."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memfence.binary.toolchain import CORE_FOLDERS, CORE_SOURCES, runtime_sources

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "runtime").glob("*.?pp"))
INCLUDE = re.compile(r'^#include "([\w/]+\.hpp)"$', re.MULTILINE)
MOST_LINES = 370


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_of_the_runtime_includes_its_folder_and_what_is_shipped_of_the_core(path: Path) -> None:
    for name in INCLUDE.findall(path.read_text()):
        folder = name.rpartition("/")[0]
        assert (ROOT / "runtime" / name).is_file() if not folder else folder in CORE_FOLDERS, name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_of_the_runtime_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES


def test_what_is_compiled_of_the_core_is_in_the_folders_that_are_shipped() -> None:
    shipped = runtime_sources()
    assert all((shipped / "core" / name).is_file() and name.split("/")[0] in CORE_FOLDERS for name in CORE_SOURCES)
    for folder in CORE_FOLDERS:
        for path in (ROOT / "core" / folder).glob("*.hpp"):
            included = {name.split("/")[0] for name in INCLUDE.findall(path.read_text())}
            assert included <= {*CORE_FOLDERS, "models"}, path.name


def test_the_architecture_names_every_part_of_the_runtime() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text().partition("## The runtime")[2]
    stems = {path.stem for path in FILES if path.suffix == ".cpp" and not path.stem.startswith("take_over_")}
    assert sorted(stem for stem in stems if f"`{stem}`" not in text) == []
