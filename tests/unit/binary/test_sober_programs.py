"""The programs of the Sober paper's table, in C of our own: falsified without fences, proved with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.api.run import run
from memfence.tasks.answer import Verdict

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "run"
EXECUTIONS = {"fig1b": (3, 2), "dekker": (3_183, 3_015), "bakery": (4_297, 4_163), "takequeue": (86, 70)}
"""Executions of different classes, and how many of them are borderline."""


@pytest.mark.parametrize("name", EXECUTIONS)
def test_the_program_is_borderline_and_with_its_fences_it_is_safe(name: str) -> None:
    plain = run(FOLDER / f"{name}.c", timeout_seconds=60)
    assert (plain.counts.executions, plain.counts.borderline) == EXECUTIONS[name]
    assert plain.is_robust is False and plain.counts.failing == 0
    assert (plain.confirmed > 0) == (name != "fig1b"), "only fig1b asserts nothing"
    assert plain.verdict is Verdict.VIOLATED
    fenced = run(FOLDER / f"{name}.c", macros=("FENCED",), timeout_seconds=60)
    assert fenced.verdict is Verdict.HOLDS and fenced.counts.executions == EXECUTIONS[name][0]


def test_a_thousand_times_more_executions_are_run_than_by_a_process_for_each() -> None:
    counts = run(FOLDER / "dekker.c", macros=("FENCED",), timeout_seconds=60).counts
    assert counts.executions / counts.cpu_seconds > 20_000
