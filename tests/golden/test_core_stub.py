"""`_core.pyi` says what the built core says: it is generated, committed, and compared here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

STUB = Path(__file__).resolve().parents[2] / "src" / "memfence" / "_core.pyi"


def test_the_stub_describes_the_built_core(tmp_path: Path) -> None:
    pytest.importorskip("nanobind")
    made = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "--quiet", "-m", "memfence._core", "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if os.environ.get("UPDATE_GOLDEN"):
        STUB.write_text(made.read_text())
    assert STUB.read_text() == made.read_text(), "`make golden` writes it again"
