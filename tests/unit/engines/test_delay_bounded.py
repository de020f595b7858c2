"""Delay-bounded search: with enough delays the search sees every run, with few it sees few, and says how many."""

from __future__ import annotations

import pytest

from memfence.engines.delay_bounded import DelayBoundedEngine
from memfence.engines.native.explicit import explore
from memfence.models.spec import SC, TSO, ModelSpec
from memfence.passes.delay_bounding import with_delay_bound
from memfence.program.expressions import At, Expr, conjunction
from memfence.program.ir import Program
from memfence.strategy.portfolio import decide
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import CounterexampleRun, DelayBound, Route
from memfence.tasks.limits import Limits
from memfence.tasks.task import Safety, Task
from support.control_graphs import control_graphs
from support.engines import outcomes_of
from support.generators.racing_programs import racing_program

ALL = frozenset({"dead", "fuse", "order", "slice", "symmetry"})
ENOUGH = 60


def at(*places: int) -> Expr:
    return conjunction(*(At(p, frozenset({place})) for p, place in enumerate(places) if place >= 0))


def is_found(program: Program, bad: Expr, delays: int, model: ModelSpec = SC) -> bool:
    goal = Safety(bad=bad, failures=False)
    explored = explore(program, model, goal, reductions=ALL, delays=delays, limits=Limits(timeout_seconds=20))
    if explored.finding is not None:
        assert explored.trace().steps
    return explored.finding is not None


@pytest.mark.parametrize("seed", range(30))
def test_with_enough_delays_every_outcome_is_seen(seed: int) -> None:
    program = racing_program(seed)
    ends = tuple(At(p, frozenset(_halts(program, p))) for p in range(len(program.processes)))
    for model in (SC, TSO.bounded(2)):
        for place in range(len(program.processes)):
            wanted = conjunction(*ends[place:], At(0, frozenset({program.processes[0].initial}))) if place else ends[0]
            goal = Safety(bad=wanted, failures=False)
            every = explore(program, model, goal, reductions=ALL, limits=Limits(timeout_seconds=20)).finding is not None
            assert is_found(program, wanted, ENOUGH, model) == every


def _halts(program: Program, process: int) -> list[int]:
    mine = program.processes[process]
    return [n for n in range(len(mine.locations)) if not any(mine.leaving(n))]


def test_more_delays_only_add_runs() -> None:
    """A lost update needs an interruption: none is found without, and all that is found stays found."""
    update = ("0: x == 0 -> 1", "0: x == 1 -> 3", "1: x := 1 -> 2", "3: x := 2 -> 4")
    program = control_graphs({"x": 0}, update, update)
    lost = at(2, 2)
    assert [is_found(program, lost, most) for most in range(4)] == [False, True, True, True]


def test_without_delays_one_schedule_is_seen() -> None:
    """Ten processes of three steps have millions of interleavings; one schedule has 31 states."""
    steps = ("0: x := 1 -> 1", "1: x := 2 -> 2", "2: x := 3 -> 3")
    program = control_graphs({"x": 0}, *([steps] * 10))
    explored = explore(program, SC, Safety(), delays=0)
    assert explored.cost.states == 31


def test_a_loop_that_waits_gives_the_turn_away() -> None:
    waiting = ("0: x != 1 -> 0", "0: x == 1 -> 1", "1: y := 1 -> 2")
    other = ("0: x := 1 -> 1", "1: y != 1 -> 1", "1: y == 1 -> 2")
    program = control_graphs({"x": 0, "y": 0}, waiting, other)
    assert is_found(program, at(2, 2), 0)


def test_inputs_but_the_first_are_delays() -> None:
    chooses = ("0: x := 1 -> 1", "0: x := 2 -> 1", "0: x := 3 -> 1", "1: x == 3 -> 2")
    program = control_graphs({"x": 0}, chooses, ("0: x == 0 -> 1",))
    assert [is_found(program, at(2, -1), most) for most in range(3)] == [False, True, True]
    assert len(with_delay_bound(program, 1).variables) == 3


def test_the_engine_says_how_far_it_has_looked() -> None:
    program = control_graphs({"x": 0, "y": 0}, ("0: x := 1 -> 1", "1: y == 2 -> 2"), ("0: y := 1 -> 1",))
    answer = DelayBoundedEngine().answer(Task(program, SC, Safety(bad=at(2, -1)), Limits()))
    assert answer.verdict is Verdict.HOLDS_UP_TO
    assert isinstance(answer.evidence, DelayBound) and answer.evidence.delays >= 10


def test_who_settles_gets_an_answer_where_all_runs_are_too_many() -> None:
    """The last place of all six needs no interruption, and is far beyond the states that a complete search is given."""
    steps = tuple(f"{n}: x := {n % 4} -> {n + 1}" for n in range(14))
    program = control_graphs({"x": 0}, *([steps] * 6))
    goal = Safety(bad=at(*([14] * 6)), failures=False)
    answer = decide(Task(program, SC, goal, Limits(), frozenset(), settles=True))
    assert answer.verdict is Verdict.VIOLATED
    assert isinstance(answer.evidence, CounterexampleRun) and answer.evidence.route is Route.DELAY_BOUNDED


def test_the_outcomes_that_the_random_programs_differ_in_exist() -> None:
    """The generator is worth its time: some programs have more outcomes under TSO than under SC."""
    assert any(outcomes_of(racing_program(seed), TSO) != outcomes_of(racing_program(seed), SC) for seed in range(30))
