"""The yardstick itself, on programs small enough to count by hand."""

from __future__ import annotations

import pytest

from memfence.models.state import Commit, ProcessStep
from support.models import memory_model
from support.samples import Sample, store_buffering
from twins.reference_search import TooManyStates, breadth_first, explore, outcomes, reachable, shortest_steps

SC, TSO, PSO = memory_model("sc"), memory_model("tso"), memory_model("pso")
ONE_STORE = Sample("one store", "x").process("P", "x := 1").build()
FAILING = Sample("failing", "x").process("P", "x := 1", "r := x", "assert r == 0").build()
CHOICE = {1: (2, 3), 2: (4,), 3: (4, 1), 4: ()}


def test_nodes_come_nearest_first_and_once() -> None:
    assert list(breadth_first([1], CHOICE.__getitem__)) == [1, 2, 3, 4]


def test_a_limit_is_passed_only_where_there_is_more() -> None:
    assert len(list(breadth_first([1], CHOICE.__getitem__, most=4))) == 4
    with pytest.raises(TooManyStates):
        list(breadth_first([1], CHOICE.__getitem__, most=3))


def test_a_store_is_pending_before_it_is_in_memory() -> None:
    assert len(reachable(ONE_STORE, SC)) == 2
    assert {(s.memory, s.is_plain) for s in reachable(ONE_STORE, TSO)} == {((0,), True), ((0,), False), ((1,), True)}


def test_a_search_that_hits_its_limit_says_so() -> None:
    assert not explore(ONE_STORE, TSO, most_states=2).complete
    assert explore(ONE_STORE, TSO, most_states=3).complete
    with pytest.raises(TooManyStates):
        reachable(ONE_STORE, TSO, most_states=2)


def test_outcomes_are_registers_and_memory_of_final_states() -> None:
    both_old = (((0,), (0,)), (1, 1))
    assert len(outcomes(store_buffering(), SC)) == 3
    assert outcomes(store_buffering(), TSO) - outcomes(store_buffering(), SC) == {both_old}


def test_a_failure_is_no_state() -> None:
    found = explore(FAILING, SC)
    assert found.has_failed_assertion
    assert not found.has_runtime_error
    assert outcomes(FAILING, SC) == set()


def test_a_shortest_run_leads_to_the_goal_or_to_a_failure() -> None:
    assert shortest_steps(ONE_STORE, PSO, lambda s: s.memory == (1,)) == (0, (ProcessStep(0, 0), Commit(0)))
    assert shortest_steps(ONE_STORE, PSO, lambda s: s.memory == (2,)) is None
    assert shortest_steps(FAILING, TSO, lambda s: False) == (
        0,
        (ProcessStep(0, 0), ProcessStep(0, 1), ProcessStep(0, 2)),
    )
