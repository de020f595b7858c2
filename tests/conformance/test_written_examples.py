"""Every example, written into an empty folder by `memfence examples`, can be asked there what it is an example of."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memfence.api.examples import example_files, examples_folder

NAMES = [str(path.relative_to(examples_folder())) for path in example_files()]


def called(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memfence", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def written(name: str, folder: Path) -> list[str]:
    """The command that `memfence examples` proposes after writing the example into the folder."""
    done = called(folder, "examples", name)
    assert done.returncode == 0, done.stderr
    return done.stdout.partition("Try: memfence ")[2].split()


@pytest.mark.parametrize("name", NAMES)
def test_an_example_passes_its_own_command_in_an_empty_folder(name: str, tmp_path: Path) -> None:
    compiler = "gcc" if name.startswith("run/") else "clang"
    if name.endswith(".c") and shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    done = called(tmp_path, *written(name, tmp_path), "--timeout", "10", "--quiet")
    assert done.returncode in (0, 1, 4), done.stderr


def test_an_example_brings_what_it_includes(tmp_path: Path) -> None:
    assert written("run/fig1b.c", tmp_path) == ["run", "fig1b.c"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fence.h", "fig1b.c"]
    written("run/dekker.c", tmp_path)  # the same header again
    (tmp_path / "fence.h").write_text("/* mine */")
    assert called(tmp_path, "examples", "run/bakery.c").returncode == 2
    assert (tmp_path / "fence.h").read_text() == "/* mine */"
    assert not (tmp_path / "bakery.c").exists()
