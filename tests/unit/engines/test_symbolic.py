"""The symbolic engine on programs whose answer is known by hand, and its limits."""

from __future__ import annotations

import pytest

from memfence.engines.bounded_witness import find_bounded_witness
from memfence.engines.native.symbolic import explore_symbolic
from memfence.models.spec import PSO, TSO, ModelSpec
from memfence.program.expressions import At, BufferEmpty, Expr, conjunction, negate
from memfence.program.ir import Program
from memfence.tasks.evidence import Deadlocked
from memfence.tasks.limits import Cancel, Limits, Stop
from memfence.tasks.task import Safety, Task
from support.control_graphs import control_graphs
from support.models import spec
from support.symbolic_limit import JUST_EXPLORE, explicit_limit

ALL = frozenset({"dead", "fuse", "order", "slice"})
MODELS: tuple[ModelSpec, ...] = (TSO, PSO)


def at(*places: int) -> Expr:
    """Process p stands at `places[p]`; negative: anywhere."""
    return conjunction(*(At(p, frozenset({place})) for p, place in enumerate(places) if place >= 0))


def is_reachable(program: Program, model: ModelSpec, bad: Expr, reductions: frozenset[str] = ALL) -> bool:
    result = explore_symbolic(
        program, spec(model), Safety(bad=bad), limits=Limits(timeout_seconds=20), reductions=reductions
    )
    assert result.found or result.complete
    return result.found


# Acceleration must not mix cycles (docs/theory/errata.md): p repeats x := 1 and then repeats y := 1; q sees a 1 in y
# before it sees one in x.

Q = ("0: y := 0 -> 1", "1: mfence -> 2", "2: y == 1 -> 3", "3: x := 0 -> 4", "4: mfence -> 5", "5: x == 1 -> 6")
BAD = at(-1, 6)
TWO_LOOPS = {
    "x then y": (("0: x := 1 -> 0", "0: -> 1", "1: y := 1 -> 1"), False),
    "y then x": (("0: y := 1 -> 0", "0: -> 1", "1: x := 1 -> 1"), True),
    "nested": (("0: x := 1 -> 1", "1: y := 1 -> 1", "1: -> 0"), True),
    "a way back": (("0: x := 1 -> 0", "0: -> 1", "1: y := 1 -> 1", "1: -> 0"), True),
    "a fenced way back": (("0: x := 1 -> 0", "0: -> 1", "1: y := 1 -> 1", "1: mfence -> 0"), True),
    "once each": (("0: x := 1 -> 1", "1: y := 1 -> 2"), False),
}


@pytest.mark.parametrize("name", TWO_LOOPS)
def test_cycles_of_different_control_points_are_not_mixed(name: str) -> None:
    edges, reachable = TWO_LOOPS[name]
    program = control_graphs({"x": 0, "y": 1}, edges, Q)
    assert is_reachable(program, "tso", BAD) == reachable
    assert is_reachable(program, "tso", BAD, frozenset()) == reachable
    limit = explicit_limit(program, "tso")
    assert limit.is_stable
    assert any(places[1] == 6 for places in limit.locations) == reachable
    assert explore_symbolic(program, spec("tso"), JUST_EXPLORE).reachable_locations() == limit.locations


@pytest.mark.parametrize("name", TWO_LOOPS)
def test_under_pso_the_two_loops_are_as_explicit_search_says(name: str) -> None:
    program = control_graphs({"x": 0, "y": 1}, TWO_LOOPS[name][0], Q)
    limit = explicit_limit(program, "pso")
    assert limit.is_stable
    assert explore_symbolic(program, spec("pso"), JUST_EXPLORE).reachable_locations() == limit.locations


# The 2010 paper's Fig. 4: p0 runs for ever on its own; only what it commits unlocks the cycle of p1.

UNLOCKING = control_graphs(
    {"x": 1, "y": 1},
    ("0: x := 1 -> 1", "1: y == 1 -> 2", "2: x := 0 -> 3", "3: y == 1 -> 0"),
    ("0: y := 1 -> 1", "1: x == 0 -> 2", "2: y := 0 -> 3", "3: x == 1 -> 0"),
)


@pytest.mark.parametrize("model", MODELS)
def test_unlocked_cycles_reach_the_deadlock_and_its_continuation(model: ModelSpec) -> None:
    deadlock = explore_symbolic(UNLOCKING, spec(model), Safety(deadlock=True), reductions=ALL)
    assert deadlock.finding == Deadlocked()
    both_at_the_end = at(3, 3)
    pending = conjunction(negate(BufferEmpty(0)), negate(BufferEmpty(1)))
    assert is_reachable(UNLOCKING, model, conjunction(both_at_the_end, pending))
    result = explore_symbolic(UNLOCKING, spec(model), JUST_EXPLORE)
    assert result.complete
    assert result.statistics.accelerations > 0
    assert result.reachable_locations() == explicit_limit(UNLOCKING, model).locations


def test_both_processes_may_have_any_number_of_rounds_pending_at_once() -> None:
    # Ten pending stores a process: beyond what explicit search reaches in reasonable time, so shown with a counter.
    rounds = tuple(f"{n}: x := {n % 2} -> {n + 1}" for n in range(10))
    watcher = tuple(f"{n}: x == {n % 2} -> {n + 1}" for n in range(10))
    program = control_graphs({"x": 3}, rounds, watcher)
    assert is_reachable(program, "tso", at(10, 10))
    assert not is_reachable(control_graphs({"x": 3}, rounds[:9], watcher), "tso", at(-1, 10))


# PSO.


def test_stores_to_different_variables_overtake_only_under_pso() -> None:
    program = control_graphs(
        {"x": 0, "y": 0}, ("0: x := 1 -> 1", "1: y := 1 -> 2"), ("0: y == 1 -> 1", "1: x == 0 -> 2")
    )
    assert not is_reachable(program, "tso", at(-1, 2))
    assert is_reachable(program, "pso", at(-1, 2))


def test_an_sfence_keeps_stores_apart_in_every_round_of_a_loop() -> None:
    # Message passing in a loop: x before y in each round, however many rounds are pending.
    writer = ("0: x := 1 -> 1", "1: sfence -> 2", "2: y := 1 -> 3", "3: sfence -> 0")
    reader = ("0: y == 1 -> 1", "1: x == 0 -> 2")
    program = control_graphs({"x": 0, "y": 0}, writer, reader)
    assert not is_reachable(program, "pso", at(-1, 2))
    unfenced = tuple(edge.replace("sfence", "") for edge in writer)
    assert is_reachable(control_graphs({"x": 0, "y": 0}, unfenced, reader), "pso", at(-1, 2))


def test_separators_of_a_loop_do_not_get_out_of_step_with_what_follows_it() -> None:
    # With one automaton a variable, the loop's separators can be counted differently in x's and y's buffer; then y := 2
    # would overtake x := 2 although an sfence stands between them.
    writer = (
        "0: x := 1 -> 1",
        "1: sfence -> 2",
        "2: y := 1 -> 0",
        "0: x := 2 -> 3",
        "3: sfence -> 4",
        "4: y := 2 -> 5",
    )
    reader = ("0: y == 2 -> 1", "1: x == 1 -> 2")
    assert not is_reachable(control_graphs({"x": 0, "y": 0}, writer, reader), "pso", at(-1, 2))


# What else the machine has.


def test_an_mfence_waits_for_the_empty_buffer_among_the_possible_ones() -> None:
    program = control_graphs({"x": 0}, ("0: x := 1 -> 0", "0: mfence -> 1", "1: x == 0 -> 2"))
    assert is_reachable(program, "tso", at(1))
    result = explore_symbolic(program, spec("tso"), JUST_EXPLORE)
    assert result.reachable_locations() == {(0,), (1,), (2,)}  # the loop may have been left at once
    written = control_graphs({"x": 0}, ("0: x := 1 -> 1", "1: x := 1 -> 1", "1: mfence -> 2", "2: x == 0 -> 3"))
    assert not is_reachable(written, "tso", at(3))


def test_a_lock_region_with_a_cycle_keeps_others_from_memory() -> None:
    # p spins inside its region; q can neither read memory nor commit meanwhile.
    p = ("0: lock -> 1", "1: x := 1 -> 1", "1: unlock -> 2")
    q = ("0: y := 1 -> 1", "1: mfence -> 2", "2: x == 0 -> 3")
    program = control_graphs({"x": 0, "y": 0}, p, q)
    for model in MODELS:
        result = explore_symbolic(program, spec(model), JUST_EXPLORE)
        assert result.complete
        assert result.reachable_locations() == explicit_limit(program, model).locations


def test_what_the_question_asks_about_buffers_may_have_both_answers() -> None:
    program = control_graphs({"x": 0}, ("0: x := 1 -> 0", "0: -> 1"))
    assert is_reachable(program, "tso", conjunction(at(1), BufferEmpty(0)))
    assert is_reachable(program, "tso", conjunction(at(1), negate(BufferEmpty(0))))


def test_final_values_and_plain_states_are_those_with_empty_buffers() -> None:
    program = control_graphs({"x": 0}, ("0: x := 1 -> 1", "1: x := 2 -> 2"))
    result = explore_symbolic(program, spec("tso"), JUST_EXPLORE)
    assert {(state.locations, state.memory) for state in result.plain_states()} == {
        ((0,), (0,)), ((1,), (1,)), ((2,), (2,)),
    }  # fmt: skip


# Findings become runs, and limits are limits.


@pytest.mark.parametrize("model", MODELS)
def test_a_finding_is_made_concrete_with_the_smallest_bound_that_shows_it(model: ModelSpec) -> None:
    program = control_graphs(
        {"x": 0, "y": 0}, ("0: x := 1 -> 1", "1: y == 0 -> 2"), ("0: y := 1 -> 1", "1: x == 0 -> 2")
    )
    question = Safety(bad=at(2, 2))
    assert explore_symbolic(program, spec(model), question, reductions=ALL).found
    trace = find_bounded_witness(Task(program, model, question))
    assert trace is not None
    assert trace.end.locations == (2, 2)
    assert find_bounded_witness(Task(program, model, Safety(bad=conjunction(at(0, 0), at(1, 1))))) is None


def test_a_deadlock_behind_a_held_bus_lock_is_left_undecided() -> None:
    program = control_graphs({"x": 0}, ("0: lock -> 1", "1: x := 1 -> 1", "1: unlock -> 2"), ("0: x := 2 -> 1",))
    assert not explore_symbolic(program, spec("tso"), Safety(deadlock=True)).complete


def test_a_timeout_or_a_cancel_ends_in_an_open_result() -> None:
    # Three counters that never repeat: no acceleration applies, and there are millions of states.
    edges = tuple(f"{n}: {v} := {n % 3} -> {(n + 1) % 7}" for n in range(7) for v in "xyz")
    program = control_graphs({"x": 0, "y": 0, "z": 0}, edges, edges, edges)
    stopped = explore_symbolic(program, spec("tso"), JUST_EXPLORE, limits=Limits(timeout_seconds=0.2))
    assert (stopped.stop, stopped.complete, stopped.found) == (Stop.TIMEOUT, False, False)
    cancel = Cancel()
    cancel.cancel()
    cancelled = explore_symbolic(program, spec("tso"), JUST_EXPLORE, limits=Limits(cancel=cancel))
    assert (cancelled.stop, cancelled.complete) == (Stop.CANCELLED, False)
    small = explore_symbolic(program, spec("tso"), JUST_EXPLORE, limits=Limits(memory_megabytes=1))
    assert (small.stop, small.complete) == (Stop.MEMORY, False)
