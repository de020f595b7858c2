"""Replay takes exactly the runs that the reference models allow, and says why it stops."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memfence.models.replay import is_start, nth_start, replay
from memfence.models.state import Commit, DropSeparator, Failure, ProcessStep, Step
from memfence.models.steps import starts, successors
from memfence.program.ir import Program
from support.generators.programs import EVERYTHING, Shape, programs
from support.models import memory_model
from support.samples import Sample, message_passing, store_buffering

SB = store_buffering()
TSO = memory_model("tso")


def test_a_possible_run_is_taken_to_its_end() -> None:
    replayed = replay(SB, TSO, 0, [ProcessStep(0, 0), ProcessStep(0, 1), Commit(0)])
    assert replayed.is_possible
    assert replayed.end.memory == (1, 0)
    assert [taken.step for taken in replayed.taken] == [ProcessStep(0, 0), ProcessStep(0, 1), Commit(0)]


@pytest.mark.parametrize(
    ("steps", "position", "reason"),
    [
        ([ProcessStep(0, 1)], 0, "`P0` stands at `start`"),
        ([ProcessStep(0, 0), ProcessStep(0, 0)], 1, "`P0` stands at `l1`"),
        ([Commit(0)], 0, "nothing to commit"),
        ([ProcessStep(0, 0), Commit(1)], 1, "`P1` has nothing to commit"),
        ([ProcessStep(0, 0), DropSeparator(0)], 1, "no separator"),
        ([ProcessStep(0, 9)], 0, "no such step"),
        ([ProcessStep(7, 0)], 0, "no such step"),
        ([Commit(-1)], 0, "no such step"),
    ],
)
def test_an_impossible_step_is_named_with_its_reason(steps: list[Step], position: int, reason: str) -> None:
    replayed = replay(SB, TSO, 0, steps)
    assert replayed.stop is not None
    assert replayed.stop.position == position == len(replayed.taken)
    assert reason in replayed.stop.reason


def test_a_fence_waits_for_the_buffer() -> None:
    program = Sample("fenced", "x").process("P", "x := 1", "mfence", "locked x := 2").build()
    assert not replay(program, TSO, 0, [ProcessStep(0, 0), ProcessStep(0, 1)]).is_possible
    assert replay(program, TSO, 0, [ProcessStep(0, 0), Commit(0), ProcessStep(0, 1), ProcessStep(0, 2)]).end.memory == (
        2,
    )


def test_stores_of_a_process_are_not_reordered_under_tso_but_under_pso() -> None:
    overtaking = [ProcessStep(0, 0), ProcessStep(0, 1), Commit(0, 1)]
    assert not replay(message_passing(), TSO, 0, overtaking).is_possible
    assert replay(message_passing(), memory_model("pso"), 0, overtaking).end.memory == (0, 1)


def test_a_failure_ends_the_run() -> None:
    program = Sample("failing", "x").process("P", "r := x", "assert r == 1", "x := 1").build()
    replayed = replay(program, TSO, 0, [ProcessStep(0, 0), ProcessStep(0, 1)])
    assert replayed.is_possible
    assert replayed.failure == Failure("assertion violated", True)
    longer = replay(program, TSO, 0, [ProcessStep(0, 0), ProcessStep(0, 1), ProcessStep(0, 2)])
    assert longer.stop is not None and longer.stop.position == 2


@given(programs(Shape(processes=(1, 2), features=EVERYTHING | {"assertions", "errors"})), st.data())
@settings(max_examples=60, deadline=None)
def test_every_walk_through_the_model_replays(program: Program, data: st.DataObject) -> None:
    model = memory_model(data.draw(st.sampled_from(["sc", "tso", "pso"])), bound=2)
    number = data.draw(st.integers(0, len(starts(program, model)) - 1))
    state, steps = starts(program, model)[number], list[Step]()
    for _ in range(12):
        choices = list(successors(program, model, state))
        if not choices:
            break
        step, after = data.draw(st.sampled_from(choices))
        steps.append(step)
        if isinstance(after, Failure):
            assert replay(program, model, number, steps).failure == after
            return
        state = after
    replayed = replay(program, model, number, steps)
    assert replayed.is_possible
    assert replayed.end == state


@given(programs(Shape(features=EVERYTHING)))
@settings(max_examples=40, deadline=None)
def test_numbered_starts_are_the_initial_states_in_order(program: Program) -> None:
    every = starts(program, TSO)
    assert tuple(nth_start(program, TSO, number) for number in range(len(every))) == every
    assert all(is_start(program, TSO, state) for state in every)
    with pytest.raises(IndexError):
        nth_start(program, TSO, len(every))


def test_a_later_state_is_no_start() -> None:
    assert not is_start(SB, TSO, replay(SB, TSO, 0, [ProcessStep(0, 0)]).end)
