"""Plant a bug in the native core, build it, and see that the tests named with the bug find it.

`patches/*.patch` are the bugs: a line `Why:`, a line `Found by:` with test files, then a unified diff. The tree is
copied and built once; each bug costs one incremental build. Needs cmake, ninja and nanobind; without them, a skip.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATCHES = sorted(Path(__file__).with_name("patches").glob("*.patch"))
COPIED = ("core", "examples", "src", "tests", "CMakeLists.txt", "pyproject.toml")

NOT_EDITABLE = """import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__module__.startswith("_editable")]
"""
"""An editable installation finds its own sources before those on PYTHONPATH."""

pytestmark = pytest.mark.slow


def run(command: list[str], where: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=where, env={**os.environ, **environment}, capture_output=True, text=True, timeout=900, check=False
    )


def build(tree: Path) -> None:
    steps = run(["cmake", "--build", str(tree / "build"), "-j2"], tree)
    assert steps.returncode == 0, steps.stdout + steps.stderr
    for library in (tree / "build").glob("_core*.so"):
        shutil.copy(library, tree / "src" / "memfence")


def failing_tests(tree: Path, files: list[str]) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-m", "not slow", "-p", "no:cacheprovider"]
    command += ["--hypothesis-profile=find", *files]
    result = run(command, tree, PYTHONPATH=str(tree / "src"))
    assert result.returncode in (0, 1), result.stdout + result.stderr
    return result.returncode == 1


def finders(patch: Path) -> list[str]:
    """The test files that a patch names."""
    (line,) = (line for line in patch.read_text().splitlines() if line.startswith("Found by: "))
    return line.removeprefix("Found by: ").split()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, built, whose tests pass."""
    if not all(shutil.which(tool) for tool in ("cmake", "ninja")) or importlib.util.find_spec("nanobind") is None:
        pytest.skip("cmake, ninja and nanobind are needed to build the core")
    return copied(tmp_path_factory.mktemp("mutants") / "tree")


def copied(copy: Path) -> Path:
    """The project in the folder `copy`, built."""
    copy.mkdir()
    for name in COPIED:
        source = ROOT / name
        shutil.copytree(source, copy / name) if source.is_dir() else shutil.copy(source, copy / name)
    for library in (copy / "src" / "memfence").glob("_core*.so"):
        library.unlink()
    nanobind = run([sys.executable, "-m", "nanobind", "--cmake_dir"], copy).stdout.strip()
    options = [
        "-DSKBUILD=ON",
        "-DMEMFENCE_UNITY=ON",
        f"-DPython_EXECUTABLE={sys.executable}",
        f"-Dnanobind_DIR={nanobind}",
    ]
    configured = run(["cmake", "-S", str(copy), "-B", str(copy / "build"), "-G", "Ninja", *options], copy)
    assert configured.returncode == 0, configured.stderr
    build(copy)
    (copy / "src" / "sitecustomize.py").write_text(NOT_EDITABLE)
    found = run([sys.executable, "-c", "import memfence; print(memfence.__file__)"], copy, PYTHONPATH=str(copy / "src"))
    assert found.stdout.startswith(str(copy)), "another memfence would be tested"
    return copy


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.stem)
def test_the_tests_find(patch: Path, tree: Path) -> None:
    touched = [line.removeprefix("+++ b/") for line in patch.read_text().splitlines() if line.startswith("+++ b/")]
    applied = run(["patch", "-p1", "-i", str(patch)], tree)
    assert applied.returncode == 0, applied.stdout + applied.stderr
    try:
        build(tree)
        assert failing_tests(tree, finders(patch)), "no test noticed"
    finally:
        for name in touched:
            shutil.copy(ROOT / name, tree / name)


def test_without_a_planted_bug_the_same_tests_pass(tree: Path) -> None:
    build(tree)
    files = sorted({file for patch in PATCHES for file in finders(patch)})
    assert not failing_tests(tree, files)
