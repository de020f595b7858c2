"""What repetitions amount to."""

from __future__ import annotations

import pytest

from memfence.silicon.costs import cost_of
from memfence.silicon.reproduce import LONGEST, USUAL, StressOptions

QUIET = [2.0, 2.0, 2.1, 2.1, 2.2, 2.2, 2.2, 9.0]


def test_the_quietest_pass_counts() -> None:
    cost = cost_of("xchg", [QUIET, [one + 0.1 for one in QUIET]])
    assert cost.nanoseconds == pytest.approx(2.15) and cost.is_steady, "one outlier is no noise"


def test_a_pass_that_was_disturbed_as_a_whole_makes_the_machine_noisy() -> None:
    disturbed = [1.3 * one for one in QUIET]
    assert cost_of("xchg", [QUIET]).is_steady and cost_of("xchg", [disturbed]).is_steady
    cost = cost_of("xchg", [QUIET, disturbed])
    assert cost.nanoseconds == pytest.approx(2.15) and not cost.is_steady


def test_runs_are_made_however_long_they_take() -> None:
    assert StressOptions().limit == USUAL and StressOptions(runs=5).limit == LONGEST
    assert StressOptions(seconds=1, runs=5).limit == 1
