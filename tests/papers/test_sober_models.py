"""Our models of Sober's experiments (2008, Fig. 4): each is falsified, and verified once it is fenced."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memfence.engines.native.attacks import AttackKind, explore_attacks
from memfence.engines.native.stateless import explore as run_executions
from memfence.pipeline import load
from memfence.questions.explore import ExploreOptions, explore
from memfence.tasks.answer import Verdict

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "examples" / "sober"
sys.path.insert(0, str(ROOT / "benchmarks"))

from sober import ROWS, Row  # noqa: E402

NAMES = ("fig1b", "dekker", "bakery", "takequeue")


@pytest.mark.parametrize("name", NAMES)
def test_the_model_is_not_store_buffer_safe_and_correct_under_sc(name: str) -> None:
    result = explore(load(MODELS / f"{name}.pml"))
    assert result.verdict is Verdict.VIOLATED
    assert [finding.kind for finding in result.findings] == ["borderline"]
    assert result.findings[0].trace is not None


@pytest.mark.parametrize("name", NAMES)
def test_the_fenced_model_is_proved(name: str) -> None:
    result = explore(load(MODELS / f"{name}_fenced.pml"))
    assert result.verdict is Verdict.HOLDS
    assert result.counts.deadlocked == 0


@pytest.mark.parametrize("name", [f"{name}{kind}" for name in NAMES for kind in ("", "_fenced")])
def test_robustness_by_attacks_agrees(name: str) -> None:
    program = load(MODELS / f"{name}.pml")
    assert (
        bool(explore_attacks(program, AttackKind.ROBUSTNESS_TSO).attacks)
        == run_executions(program, stop_at_first=True).has_borderline
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.model}-{row.preemptions}")
def test_the_numbers_of_the_table_are_right(row: Row) -> None:
    program = load(MODELS / f"{row.model}.pml")
    counts = run_executions(program, preemptions=row.preemptions, depth=1_000).counts
    assert (counts.interleavings, counts.borderline) == (row.interleavings, row.borderline)


def test_more_preemptions_never_lose_an_execution() -> None:
    result = explore(load(MODELS / "takequeue.pml"), ExploreOptions(preemptions=4))
    seen = [iteration.counts.interleavings for iteration in result.iterations]
    assert seen == sorted(seen)
    assert result.bound == 4
