"""Every example is fixed with as many fences as `examples/fences.csv` says, and in every language a fix is a fix."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path
from typing import Literal

import pytest

from memfence.frontends.catalogue import LANGUAGES
from memfence.pipeline import load, load_text
from memfence.program.ir import Forbidden
from memfence.program.load_options import LoadOptions
from memfence.program.text.properties import parse_expression
from memfence.source import SourceText
from memfence.synthesis.options import FixOptions
from memfence.synthesis.result import FixVerdict
from memfence.tasks.criterion import Criterion
from support.fixed_programs import fixed_and_needed
from support.store_buffering import STORE_BUFFERING

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROWS = list(csv.DictReader((EXAMPLES / "fences.csv").read_text().splitlines()))
Model = Literal["tso", "pso"]

BOTH_READ_0 = "P@done && Q@done && P.r == 0 && Q.r == 0"


@pytest.mark.parametrize("model", ["tso", "pso"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["program"])
def test_an_example_needs_as_many_fences_as_the_table_says(row: dict[str, str], model: Model) -> None:
    result = fixed_and_needed(load(EXAMPLES / f"{row['program']}.pml"), FixOptions(model=model))
    assert result.is_minimum
    assert f"{result.chosen.count}/{result.chosen.instances}" == row[model]


def test_every_example_is_in_the_table() -> None:
    assert [row["program"] for row in ROWS] == sorted(path.stem for path in EXAMPLES.glob("*.pml"))


@pytest.mark.parametrize("model", ["tso", "pso"])
@pytest.mark.parametrize("language", STORE_BUFFERING)
def test_store_buffering_is_fixed_in_every_language(language: str, model: Model) -> None:
    program = load_text(SourceText(f"sb.{language}", STORE_BUFFERING[language]), LoadOptions(language=language))
    assert program.language == language
    forbid = () if program.properties else (Forbidden(parse_expression(BOTH_READ_0, program), BOTH_READ_0),)
    result = fixed_and_needed(program, FixOptions(model=model, forbid=forbid))
    assert result.verdict is FixVerdict.FIXED
    assert result.chosen.count == 2
    assert {fence.kind for fence in result.chosen.fences} == ({"locked"} if language == "dve" else {"mfence"})


def test_store_buffering_is_there_in_every_language() -> None:
    """But for C, whose examples have tests of their own, and assembly that no model with store buffers knows."""
    assert set(STORE_BUFFERING) == {language.name for language in LANGUAGES} - {"c", "aarch64"}


@pytest.mark.parametrize("criterion", ["persistent", "robust"])
@pytest.mark.parametrize("language", sorted(set(STORE_BUFFERING) - {"dve"}))
def test_store_buffering_meets_the_criteria_with_two_fences_in_every_language_that_has_them(
    language: str, criterion: Criterion
) -> None:
    program = load_text(SourceText(f"sb.{language}", STORE_BUFFERING[language]), LoadOptions(language=language))
    result = fixed_and_needed(program, FixOptions(criterion=criterion))
    assert [fence.kind for fence in result.chosen.fences] == ["mfence", "mfence"]
    assert result.stats.checks == 1, "one exploration knows every clause"


@pytest.mark.parametrize(
    ("name", "model", "count"), [("lost_wakeup", "tso", 2), ("peterson", "pso", 2), ("dekker", "pso", 3)]
)
def test_state_robustness_is_fixed_by_checking_again(name: str, model: Model, count: int) -> None:
    program = load(EXAMPLES / f"{name}.pml")
    result = fixed_and_needed(program, FixOptions(model=model, criterion="state-robust"))
    assert (result.is_minimum, result.chosen.count) == (True, count)


@pytest.mark.parametrize(("name", "count"), [("lost_wakeup", 2), ("peterson", 1), ("dekker", 3), ("ticket_lock", 0)])
def test_triangular_races_are_fixed_by_checking_again(name: str, count: int) -> None:
    result = fixed_and_needed(load(EXAMPLES / f"{name}.pml"), FixOptions(criterion="trf"))
    assert (result.is_minimum, result.chosen.count) == (True, count)


def test_no_fence_removes_a_data_race() -> None:
    result = fixed_and_needed(load(EXAMPLES / "message_passing.pml"), FixOptions(criterion="drf"))
    assert result.verdict is FixVerdict.IMPOSSIBLE
    assert result.trace is not None


def test_a_step_that_tears_needs_a_locked_write() -> None:
    """Between the read and the write of one statement there is no place for a fence."""
    text = "byte x; active [2] proctype P() { x = x + 1 }"
    program = load_text(SourceText("count.pml", text))
    result = fixed_and_needed(program, FixOptions(criterion="robust"))
    assert result.verdict is FixVerdict.FIXED
    assert [fence.kind for fence in result.chosen.fences] == ["locked"]
    assert result.patched == "byte x; active [2] proctype P() { atomic { x = x + 1 } }"


@pytest.mark.parametrize("name", ["lost_wakeup", "peterson", "lamport_fast", "seqlock"])
def test_git_applies_the_diff(name: str, tmp_path: Path) -> None:
    text = (EXAMPLES / f"{name}.pml").read_bytes()
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / f"{name}.pml").write_bytes(text)
    source = SourceText(f"models/{name}.pml", text.decode())
    result = fixed_and_needed(load_text(source), FixOptions(model="pso"))
    git = ["git", "apply", "--unsafe-paths", "-"]
    subprocess.run(git, input=result.diff, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "models" / f"{name}.pml").read_text() == result.patched


def test_the_patched_text_only_gains_lines() -> None:
    program = load(EXAMPLES / "peterson.pml")
    result = fixed_and_needed(program, FixOptions(model="pso"))
    added = [line for line in result.diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert added == ["+       sfence();", "+       mfence();"]
    assert not [line for line in result.diff.splitlines() if line.startswith("-") and not line.startswith("---")]
