"""`memfence.testing`: only a proof passes, and a failure explains itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.diagnostics import InputError
from memfence.testing import assert_safe, assert_unsafe
from support.wrapping import unwrapped

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LOST_WAKEUP = EXAMPLES / "lost_wakeup.pml"


def test_a_proof_passes() -> None:
    assert assert_safe(LOST_WAKEUP, model="sc").verdict.value == "holds"
    assert_safe(str(EXAMPLES / "message_passing.pml"))


def test_a_violation_raises_with_the_run() -> None:
    with pytest.raises(AssertionError) as raised:
        assert_safe(LOST_WAKEUP, model="tso")
    assert "the load overtook the store" in unwrapped(raised.value)


def test_what_is_only_bounded_does_not_pass(tmp_path: Path) -> None:
    path = tmp_path / "loop.pml"
    path.write_text("byte x, y; active proctype P() { do :: x = 1; y = 1 od } ltl p { [] x < 2 }")
    with pytest.raises(AssertionError, match="NO VIOLATION up to buffer bound 1"):
        assert_safe(path, buffer_bound=1, engine="explicit", reduce=())


def test_criteria_and_properties_can_be_given() -> None:
    assert_unsafe(LOST_WAKEUP, "sc", criterion="drf")
    assert_unsafe(LOST_WAKEUP, "sc", forbid="waiting == 1")
    assert_safe(LOST_WAKEUP, "tso", invariant="work <= 1")


def test_an_expected_violation_that_does_not_come_raises() -> None:
    with pytest.raises(AssertionError, match="no violation found"):
        assert_unsafe(LOST_WAKEUP, "sc")


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="'arm'"):
        assert_safe(LOST_WAKEUP, "arm")
    with pytest.raises(InputError):
        assert_safe("nowhere.pml")
