"""Every planted bug still fits the sources: building and finding them is slow, this is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATCHES = sorted(Path(__file__).with_name("patches").glob("*.patch"))
HEADER = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def hunks(patch: Path) -> list[tuple[str, list[str], list[str]]]:
    """The hunks of a unified diff: the file, the lines before, the lines after."""
    found: list[tuple[str, list[str], list[str]]] = []
    name = ""
    old = new = 0  # lines of the present hunk that are still to come
    for line in patch.read_text().splitlines():
        if old > 0 or new > 0:
            if line[:1] != "+":
                found[-1][1].append(line[1:])
                old -= 1
            if line[:1] != "-":
                found[-1][2].append(line[1:])
                new -= 1
        elif line.startswith("+++ b/"):
            name = line.removeprefix("+++ b/")
        elif header := HEADER.match(line):
            old, new = (int(count or 1) for count in header.groups())
            found.append((name, [], []))
    assert (old, new) == (0, 0), f"{patch.name} ends within a hunk"
    return found


def places(lines: list[str], block: list[str]) -> list[int]:
    return [i for i in range(len(lines) - len(block) + 1) if lines[i : i + len(block)] == block]


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.stem)
def test_the_patch_applies_in_exactly_one_place(patch: Path) -> None:
    assert hunks(patch)
    for name, before, after in hunks(patch):
        lines = (ROOT / name).read_text().splitlines()
        assert before != after
        assert len(places(lines, before)) == 1, f"{name} does not have, once, what the patch replaces"


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.stem)
def test_the_patch_says_why_and_names_tests_that_exist(patch: Path) -> None:
    head = dict(line.split(": ", 1) for line in patch.read_text().split("\ndiff ")[0].splitlines() if ": " in line)
    assert head["Why"].endswith(".")
    for file in head["Found by"].split():
        assert (ROOT / file).is_file(), file
