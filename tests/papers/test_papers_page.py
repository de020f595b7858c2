"""Every command of docs/theory/papers.md ends as the page says, and every file that it names is there."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from support.c_compiler import HAS_CLANG
from support.command_line import memfence_shown

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/theory/papers.md").read_text(encoding="utf-8")
COMMANDS = [
    pytest.param(shlex.split(command)[1:], int(code), marks=[pytest.mark.slow] if slow else [], id=command)
    for command, code, slow in re.findall(r"`(memfence [^`]+)` → (\d)(, \*slow\*)?", TEXT)
]


@pytest.mark.parametrize(("arguments", "code"), COMMANDS)
def test_a_command_of_the_page_ends_as_it_says(arguments: list[str], code: int, tmp_path: Path) -> None:
    if arguments[1].endswith(".c") and not HAS_CLANG:
        pytest.skip("C is read by clang, which is not installed")
    folder = ROOT if arguments[0] == "bench" else tmp_path
    if folder == tmp_path:
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    done = memfence_shown(*arguments, folder=folder, environment={"NO_COLOR": "1"})
    assert done.returncode == code, done.stdout


def test_most_lines_have_a_command() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith("| in the paper")]
    with_command = [line for line in rows if "`memfence " in line]
    assert len(rows) > 60 and len(with_command) > len(rows) / 2


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:tests|examples|core|models|engines)/[\w./]+)`", TEXT))))
def test_what_the_page_names_is_there(path: str) -> None:
    assert any((base / path).exists() for base in (ROOT, ROOT / "src/memfence"))
