"""A newcomer gets from the front page to a proved patch: with this memfence, and from a fresh clone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from newcomer import Newcomer

import memfence
from support.c_compiler import needs_clang

ROOT = Path(__file__).resolve().parents[2]
needs_patch = pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")


@needs_patch
def test_from_the_front_page_to_the_patch(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    home = str(Path(memfence.__file__).parents[1])
    Newcomer(tmp_path, (sys.executable, "-m", "memfence"), {"PYTHONPATH": home}).check_promises()


@needs_patch
@needs_clang
def test_from_a_file_of_c_to_the_patch(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    home = str(Path(memfence.__file__).parents[1])
    Newcomer(tmp_path, (sys.executable, "-m", "memfence"), {"PYTHONPATH": home}).check_promises_about_c()


@needs_patch
@pytest.mark.slow
def test_from_a_fresh_clone_to_the_patch(tmp_path: Path) -> None:
    """Installs into a clean environment, so that nothing that is only in the working tree can help."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git repository")
    clone = tmp_path / "memfence"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), str(clone)], check=True)
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    subprocess.run([environment / "bin" / "pip", "install", "--quiet", f"{clone}[c]"], check=True)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(clone / "examples", elsewhere / "examples")
    newcomer = Newcomer(elsewhere, (str(environment / "bin" / "memfence"),), {"PYTHONPATH": ""})
    newcomer.check_promises()
    newcomer.check_promises_about_c()
