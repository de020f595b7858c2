"""The examples in C: verdicts, the number of fences, and patches that compile and are proved from their text."""

from __future__ import annotations

import csv
import shutil
import subprocess
from pathlib import Path

import pytest

from memfence import pipeline
from memfence.frontends.c.clang import find_clang
from memfence.questions import check
from memfence.source import SourceText
from memfence.synthesis.options import FixOptions
from memfence.synthesis.synthesise import fix_fences
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "c"
ROWS = list(csv.DictReader((FOLDER / "expected.csv").open()))

pytestmark = needs_clang


def test_every_example_has_an_expected_verdict() -> None:
    assert sorted(row["file"] for row in ROWS) == sorted(path.name for path in FOLDER.glob("*.c"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["file"])
def test_verdicts_are_as_expected(row: dict[str, str]) -> None:
    program = pipeline.load(FOLDER / row["file"])
    for model in ("sc", "tso"):
        result = check(program, CheckOptions(model=model, criterion="safety"))  # type: ignore[arg-type]
        assert result.verdict.value == row[model], model


@pytest.mark.parametrize("row", [r for r in ROWS if r["tso"] == "violated" and r["fences"]], ids=lambda r: r["file"])
def test_the_patch_has_the_fewest_fences_compiles_and_is_proved(row: dict[str, str], tmp_path: Path) -> None:
    program = pipeline.load(FOLDER / row["file"])
    fixed = fix_fences(program, FixOptions(model="tso", criterion="safety"))
    assert len(fixed.chosen.fences) == int(row["fences"])
    assert fixed.patched is not None
    patched = tmp_path / row["file"]
    patched.write_text(fixed.patched)
    again = check(pipeline.load(patched), CheckOptions(model="tso", criterion="safety"))
    assert again.verdict is Verdict.HOLDS
    clang = find_clang(None, False, SourceText(str(patched), fixed.patched))
    for compiler in (["gcc"] if shutil.which("gcc") else [], clang):
        if compiler:
            subprocess.run([*compiler, "-Wall", "-c", "-o", str(tmp_path / "out.o"), str(patched)], check=True)


def test_a_patched_text_differs_by_its_fences_alone() -> None:
    path = FOLDER / "sober_lost_wakeup.c"
    fixed = fix_fences(pipeline.load(path), FixOptions(model="tso", criterion="safety"))
    assert fixed.patched is not None
    added = [line for line in fixed.patched.splitlines() if line not in path.read_text().splitlines()]
    assert [line.strip() for line in added] == [
        "#include <stdatomic.h>",
        *["atomic_thread_fence(memory_order_seq_cst);"] * 2,
    ]


def test_the_source_of_a_program_is_the_text_that_was_read() -> None:
    path = FOLDER / "spsc_ring.c"
    assert pipeline.load_text(SourceText(str(path), path.read_text())).source.text == path.read_text()
