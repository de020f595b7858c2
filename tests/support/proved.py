"""The checker that is itself proved, where `make proof` has built it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memfence.certificates.checker.proved import EXECUTABLE, VARIABLE, frame, task_text
from memfence.models.spec import ModelSpec
from memfence.program.ir import Program
from memfence.program.text.canonical import canonical_text

BUILT = Path(__file__).resolve().parents[2] / "build" / "proof" / EXECUTABLE


def executable() -> str | None:
    """Where it is: named by the environment, on PATH, or just built."""
    return os.environ.get(VARIABLE) or shutil.which(EXECUTABLE) or (str(BUILT) if BUILT.is_file() else None)


needs_the_proved_checker = pytest.mark.skipif(executable() is None, reason="`make proof` has not built the checker")


@pytest.fixture
def proved_checker(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """memfence finds the executable during the test."""
    found = executable()
    assert found is not None
    monkeypatch.setenv(VARIABLE, found)
    yield found


def steps_of(program: Program, memory: ModelSpec, capacity: int, blocks: list[bytes]) -> list[bytes]:
    """For each state of the blocks a line of JSON: all steps, each with the state it leads to."""
    task = task_text(memory, capacity, "(steps)")
    frames = [(b"TASK", task), (b"PROG", canonical_text(program).encode()), *((b"ROWS", block) for block in blocks)]
    content = b"".join(frame(kind, content) for kind, content in [*frames, (b"DONE", b"")])
    checker: Any = executable()
    return subprocess.run([checker], input=content, stdout=subprocess.PIPE, check=True).stdout.splitlines()
