"""What is installed is what is needed: the core, the runtime, grammars, pages, schemas, examples; no tests."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from memfence.binary.toolchain import CORE_FOLDERS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_wheel_has_every_file_of_the_package_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, timeout=1_200)
    (wheel,) = tmp_path.glob("memfence-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    package = ROOT / "src" / "memfence"
    wanted = {
        f"memfence/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".so")
    }
    wanted |= {f"memfence/{path.relative_to(ROOT)}" for path in (ROOT / "examples").rglob("*") if path.is_file()}
    native = [ROOT / "runtime", *(ROOT / "core" / name for name in CORE_FOLDERS)]
    wanted |= {f"memfence/native/{path.relative_to(ROOT)}" for folder in native for path in folder.glob("*.?pp")}
    assert wanted <= set(names)
    others = set(names) - wanted
    assert len(others) == 1 and others.pop().startswith("memfence/_core.")
