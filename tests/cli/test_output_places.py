"""An output never overwrites an input, nor another output: that is wrong usage, and found before anything runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import ROOT
from support.command_line import memfence as in_process

MODEL = (ROOT / "examples/lost_wakeup.pml").read_text()
TRACE = '{"thread": 0, "op": "store", "address": "x", "value": 1}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model, the same file by another name, and a list of writes."""
    (tmp_path / "m.pml").write_text(MODEL)
    (tmp_path / "link.pml").symlink_to("m.pml")
    (tmp_path / "writes").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "check m.pml --html m.pml", "check m.pml --sarif m.pml", "check m.pml --junit ./m.pml",
        "check m.pml --html link.pml", "check m.pml --html r --sarif r", "check m.pml --sarif r --junit ./r",
        "fix m.pml --html m.pml", "fix m.pml -o m.pml", "fix m.pml -o r --html r", "fix m.pml --in-place --html m.pml",
        "fix m.pml --atomic m.pml", "compare m.pml --html m.pml", "explore m.pml --html m.pml",
        "explore m.pml --save-schedule m.pml", "explore m.pml --save-schedule r --html r",
        "monitor m.pml --html m.pml", "translate m.pml --to dot -o m.pml",
        "translate m.pml --to dve --store-buffers --atomic writes -o writes",
    ],
)  # fmt: skip
def test_an_output_that_is_an_input_or_another_output_is_wrong_usage(line: str, folder: Path) -> None:
    done = in_process(*line.split(), folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "would overwrite" in done.stderr or "both" in done.stderr, done.stderr
    assert (folder / "m.pml").read_text() == MODEL
    assert not (folder / "r").exists()


def test_what_is_piped_in_is_not_overwritten_either(folder: Path) -> None:
    with (folder / "m.pml").open() as piped:
        line = [sys.executable, "-m", "memfence", "check", "-", "--language", "promela", "--html", "m.pml"]
        done = subprocess.run(line, stdin=piped, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 2 and "would overwrite" in done.stderr
    assert (folder / "m.pml").read_text() == MODEL


def test_outputs_that_are_no_files_may_be_the_same(folder: Path) -> None:
    done = in_process("check", "m.pml", "--html", os.devnull, "--sarif", os.devnull, folder=folder)
    assert done.returncode == 1
