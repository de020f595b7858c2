"""`memfence-hook`: many files at once, and the exit code of the worst."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memfence.cli.exit_codes import Exit
from memfence.cli.hook import check_all, split

ROOT = Path(__file__).resolve().parents[2]
GOOD, BAD = (str(ROOT / "examples" / name) for name in ("message_passing.pml", "lost_wakeup.pml"))


def test_options_come_first_and_files_last() -> None:
    assert split(["--model", "tso", GOOD, BAD]) == (["--model", "tso"], [GOOD, BAD])


def test_the_worst_file_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.pml"
    broken.write_text("active proctype")
    assert check_all([GOOD]) is Exit.HOLDS
    assert check_all([GOOD, BAD]) is Exit.VIOLATED
    assert check_all(["--model", "sc", GOOD, BAD]) is Exit.HOLDS
    assert check_all([GOOD, BAD, str(broken)]) is Exit.BAD_INPUT
    assert check_all([]) is Exit.HOLDS
    assert "VIOLATED" in capsys.readouterr().out


def test_the_hook_definition_names_the_command() -> None:
    definition = (ROOT / ".pre-commit-hooks.yaml").read_text()
    assert re.search(r"^  entry: memfence-hook$", definition, re.MULTILINE)
    assert 'memfence-hook = "memfence.cli.hook:run"' in (ROOT / "pyproject.toml").read_text()
