"""What others use in their CI: the script behind the action, the files that name it, the configuration of wheels."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "contrib" / "ci" / "check_files.py"


def run_script(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_the_worst_file_decides_and_each_has_a_report(tmp_path: Path) -> None:
    files = ("examples/lost_wakeup.pml", "examples/ticket_lock.pml")
    done = run_script("--sarif", tmp_path / "reports", "--quiet", "--", *files)
    assert done.returncode == 1
    assert "lost_wakeup.pml: VIOLATED" in done.stdout
    assert "ticket_lock.pml: HOLDS" in done.stdout
    assert len(list((tmp_path / "reports").glob("*.sarif"))) == 2


@pytest.mark.parametrize("arguments", [(), ("--quiet",), ("--quiet", "--")])
def test_without_files_it_says_how_it_is_used(arguments: tuple[str, ...]) -> None:
    done = run_script(*arguments)
    assert done.returncode == 2
    assert done.stderr


def test_the_action_calls_the_script_that_is_there() -> None:
    text = (ROOT / "action.yml").read_text()
    named = re.findall(r"contrib/ci/\w+\.py", text)
    assert named
    assert all((ROOT / name).is_file() for name in named)
    inputs = set(re.findall(r"inputs\.([\w-]+)", text))
    assert inputs == {"files", "options", "version", "upload-sarif"}
    assert all(re.search(rf"^  {name}:$", text, re.MULTILINE) for name in inputs)


def test_wheels_are_built_for_every_python_that_is_promised() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    least = project["project"]["requires-python"].removeprefix(">=").replace(".", "")
    assert f"cp{least}-*" in project["tool"]["cibuildwheel"]["build"]
