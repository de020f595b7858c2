"""README, Makefile, CI and change log agree with each other and with the program."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from memfence.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()
COMMANDS = re.findall(r"^```sh\n(.*?)\n```$", README, re.MULTILINE | re.DOTALL)


def test_the_readme_has_exactly_two_set_up_commands() -> None:
    assert len(COMMANDS) == 2
    assert all("\n" not in command for command in COMMANDS)


def test_the_first_command_runs_a_shipped_example() -> None:
    (example,) = re.findall(r"examples/\S+", COMMANDS[0])
    assert (ROOT / example).is_file()


def test_ci_runs_the_second_command() -> None:
    assert "pytest" in COMMANDS[1]
    assert "block == 2" in (ROOT / ".ci/run").read_text()


def test_what_the_first_command_prints_is_on_the_page() -> None:
    command = "memfence " + COMMANDS[0].split("memfence ")[1]
    assert f"```console\n$ {command}\n" in README  # which `test_docs_commands.py` runs


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_links_of_the_readme_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()


def test_every_make_target_of_the_style_guide_exists_with_a_help_text() -> None:
    targets = "help setup build build-asan fmt lint types test test-all test-core golden papers bench docs wheel"
    for target in targets.split():
        assert re.search(rf"^{target}:.*## \S", MAKEFILE, re.MULTILINE), target


@pytest.mark.skipif(shutil.which("make") is None, reason="make not installed")
def test_make_help_lists_the_targets() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "build-asan" in done.stdout


def test_the_change_log_knows_the_version() -> None:
    assert f"## [{VERSION}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_architecture_names_every_folder() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    folders = [path.parent.name for path in (ROOT / "src/memfence").glob("*/__init__.py")]
    assert [name for name in folders if f"`{name}/`" not in text] == []
