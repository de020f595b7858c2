"""Ctrl-C within `fix`, `why` and `compare`: what is known is kept, the rest is unknown, and the exit code is 4."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import memfence
from memfence.cli.why import _exit_of
from memfence.questions import check
from memfence.questions import compare as comparing
from memfence.questions.interruption import interrupted
from memfence.report.describe.compare import render_comparison
from memfence.synthesis import necessity, oracles
from memfence.synthesis.necessity import Need
from memfence.tasks.limits import Stop
from support.command_line import ROOT

PETERSON = ROOT / "examples" / "peterson.pml"
FENCED = """\
bool x, y, p, q;
active proctype P() { x = true; mfence(); p = !y }
active proctype Q() { y = true; mfence(); q = !x }
ltl never_both { [] !(p && q) }
"""
WAYS = ["a search ends", "between searches"]


def interrupted_at(number: int, way: str) -> Callable[..., Any]:
    """`check`, but for Ctrl-C at the call with this number; nothing may be asked after it."""
    calls = 0

    def ask(program: Any, options: Any) -> Any:
        nonlocal calls
        calls += 1
        assert calls <= number
        if calls < number:
            return check(program, options)
        if way == "between searches":
            raise KeyboardInterrupt
        return interrupted(program, options)

    return ask


@pytest.mark.parametrize("part", ["shortened", "races_of", "vacuity_of"])
def test_check_keeps_a_verdict_that_is_only_to_be_told_better(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("memfence.api.check"), part, stop)
    found = memfence.check(PETERSON)
    assert found.verdict == "violated" and found.trace is not None


@pytest.mark.parametrize("way", WAYS)
def test_compare_keeps_the_rows_that_it_has(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = memfence.compare(PETERSON)
    monkeypatch.setattr(comparing, "check", interrupted_at(3, way))
    found = memfence.compare(PETERSON)
    assert [row.verdict for row in found.rows[:2]] == [row.verdict for row in whole.rows[:2]]
    assert found.rows[2].verdict == "unknown"
    assert len(found.rows) == len(whole.rows) and not found.is_conclusive
    assert "interrupted" in render_comparison(found, width=100)


def test_compare_keeps_the_verdicts_where_fences_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = memfence.compare(PETERSON)
    monkeypatch.setattr(oracles, "check", interrupted_at(2, "a search ends"))
    found = memfence.compare(PETERSON)
    assert [row.verdict for row in found.rows] == [row.verdict for row in whole.rows]
    assert not found.is_conclusive


@pytest.mark.parametrize("way", WAYS)
def test_why_keeps_the_fences_that_it_has_decided(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(necessity, "check", interrupted_at(3, way))
    results = memfence.why(FENCED, language="promela", criteria=["safety", "robust"])
    (found,) = results
    assert [reason.need for reason in found.reasons] == [Need.NEEDED, Need.UNKNOWN]
    assert _exit_of(results) == 4


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("minimise", ["count", "first"])
def test_fix_says_how_far_it_came(way: str, number: int, minimise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracles, "check", interrupted_at(number, way))
    found = memfence.fix(PETERSON, model="pso", minimise=minimise)
    assert found.verdict == "unknown" and found.stop is Stop.CANCELLED
    text = str(found) + "\n"
    assert "interrupted" in text and "--timeout" not in text
    assert f"{number - (way == 'between searches')} check" in text
