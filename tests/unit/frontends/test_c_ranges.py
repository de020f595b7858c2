"""Ranges of bytes, and the table of what each kind of instruction does."""

from __future__ import annotations

from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from memfence.frontends.c.llvm.instructions import Instruction
from memfence.frontends.c.machine.execute import EXECUTE
from memfence.frontends.c.machine.ranges import Range, Ranges

ranges = st.tuples(st.integers(0, 400), st.sampled_from((0, 1, 2, 4, 8, 63, 64, 65, 200)))


def one_by_one(found: set[Range], lo: int, hi: int) -> set[Range]:
    """The definition: every range is looked at."""
    return {(a, n) for a, n in found if a < hi and a + n > lo}


@given(st.sets(ranges, max_size=12), st.integers(0, 500), st.integers(0, 300))
@settings(max_examples=500, deadline=None)
def test_ranges_that_touch_are_those_found_one_by_one(given: set[Range], lo: int, size: int) -> None:
    assert Ranges(given).touching(lo, lo + size) == one_by_one(given, lo, lo + size)


@given(st.lists(ranges, max_size=12))
def test_a_range_is_there_once(given: list[Range]) -> None:
    assert sorted(Ranges(given)) == sorted(set(given))
    assert len(Ranges(given)) == len(set(given))


def test_every_kind_of_instruction_has_a_row() -> None:
    assert set(EXECUTE) == set(get_args(Instruction))
