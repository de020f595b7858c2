"""PoVso and Po decided by following runs agree with their definitions, and so does the search for an SC run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import strategies as st

from memfence.execution.sc_order import Event, Orders, is_made_under_sc
from memfence.models.spec import PSO, SC, TSO
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.questions import check
from memfence.questions.criteria import in_form
from memfence.source import SourceText
from memfence.strategy.portfolio import ask
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import CounterexampleRun, EveryOrder, NonScState, NoScRun
from memfence.tasks.limits import Stop
from memfence.tasks.options import CheckOptions
from memfence.tasks.task import Keeps, Task
from support.generators.criteria_programs import RICH, criteria_programs
from support.sampling import sampled
from twins import criteria as twin

BY_DEFINITION = {
    Criterion.POVSO: twin.keeps_stores_of_each_variable,
    Criterion.PO: twin.keeps_program_order,
}
WEAKER = pytest.mark.parametrize("criterion", list(BY_DEFINITION))

# Whole answers.


@WEAKER
@sampled(quick=150, slow=3_000, program=criteria_programs(RICH))
def test_a_criterion_holds_exactly_where_its_definition_says(criterion: Criterion, program: Program) -> None:
    expected = Verdict.HOLDS if BY_DEFINITION[criterion](program) else Verdict.VIOLATED
    answer = ask("program orders", Task(in_form(program), TSO, Keeps(criterion)))
    assert answer.verdict is expected
    if expected is Verdict.HOLDS:
        assert isinstance(answer.evidence, EveryOrder)
    else:
        assert isinstance(answer.evidence, CounterexampleRun) and answer.evidence.finding == NoScRun()
        check_run(criterion, answer.evidence)
    assert check(program, CheckOptions(criterion=criterion)).verdict is expected


def check_run(criterion: Criterion, shown: CounterexampleRun) -> None:
    """It ends with empty buffers and, unless a step fails, has an order that no SC run has."""
    trace = shown.trace
    if trace.failure is not None:
        return
    assert trace.end.is_plain
    seen = twin.labels if criterion is Criterion.PO else twin.labels_and_values
    program = twin.with_failed_locations(trace.program)
    allowed = {seen(history) for history in twin.histories(program, "sc", "tso")}
    assert seen(twin.history_of(trace)) not in allowed


# One run: is it one of SC?

VARIABLES, VALUES, MOST = 2, 2, 3
MADE = st.tuples(st.sampled_from(["read", "write"]), st.integers(0, VARIABLES - 1), st.integers(0, VALUES - 1))
EVENT = st.lists(MADE, min_size=1, max_size=2).map(tuple)
RUN = st.lists(EVENT, max_size=MOST).map(tuple)
INITIAL = st.tuples(*(st.sampled_from([(0,), (1,), (0, 1)]) for _ in range(VARIABLES)))


@sampled(quick=400, slow=10_000, runs=st.lists(RUN, min_size=2, max_size=3), initial=INITIAL)
def test_an_sc_run_is_found_exactly_if_some_interleaving_is_one(
    runs: list[tuple[Event, ...]], initial: tuple[tuple[int, ...], ...]
) -> None:
    found = set(every_order(runs, initial))
    assert is_made_under_sc(runs, initial, None) == bool(found)
    for orders in every_store_order(runs):
        assert is_made_under_sc(runs, initial, orders) == (orders in found)


def every_order(runs: Sequence[tuple[Event, ...]], initial: Sequence[Sequence[int]]) -> Iterator[Orders]:
    """Whose stores came in which order, for each variable, of every interleaving that memory allows."""
    for memory in product(*initial):
        for turns in interleavings(tuple(map(len, runs))):
            if (orders := stored_in(runs, list(memory), turns)) is not None:
                yield orders


def interleavings(left: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not any(left):
        yield ()
    for process, count in enumerate(left):
        if count:
            rest = (*left[:process], count - 1, *left[process + 1 :])
            yield from ((process, *others) for others in interleavings(rest))


def stored_in(runs: Sequence[tuple[Event, ...]], memory: list[int], turns: Sequence[int]) -> Orders | None:
    done = [0] * len(runs)
    orders: list[tuple[int, ...]] = [()] * len(memory)
    for process in turns:
        for kind, variable, value in runs[process][done[process]]:
            if kind == "read" and memory[variable] != value:
                return None
            if kind == "write":
                memory[variable] = value
                orders[variable] += (process,)
        done[process] += 1
    return tuple(orders)


def every_store_order(runs: Sequence[tuple[Event, ...]]) -> Iterator[Orders]:
    def counts(variable: int) -> tuple[int, ...]:
        return tuple(sum(made[:2] == ("write", variable) for event in run for made in event) for run in runs)

    yield from product(*(interleavings(counts(variable)) for variable in range(VARIABLES)))


# Programs with loops: a stronger criterion, a state that SC does not have, a run; never a proof by runs alone.

SPINNING = """
byte x, y, done;
active proctype P() { byte a; x = 1; a = y; done = 1 }
active proctype Q() { y = 1; do :: done == 1 -> break od }
"""
FOR_EVER = """
byte x, y;
active proctype P() { byte a; do :: x = 0; a = y od }
active proctype Q() { byte b; do :: y = 1 - y; b = x od }
"""

EACH_ROUND = """
byte x, y;
active proctype P() { byte a; do :: x = 1; a = y; x = 0 od }
active proctype Q() { byte b; do :: y = 1; b = x; y = 0 od }
"""


def test_a_stronger_criterion_proves_a_program_with_loops() -> None:
    text = SPINNING.replace("x = 1; a = y;", "a = y; x = 1;")
    for criterion in BY_DEFINITION:
        assert check(load_text(SourceText("t.pml", text)), CheckOptions(criterion=criterion)).verdict is Verdict.HOLDS


def test_a_run_of_a_program_with_loops_refutes_povso() -> None:
    result = check(load_text(SourceText("t.pml", EACH_ROUND)), CheckOptions(criterion="povso"))
    assert result.verdict is Verdict.VIOLATED and isinstance(result.evidence, CounterexampleRun)
    assert isinstance(result.evidence.finding, NonScState | NoScRun)


def test_runs_without_end_end_at_the_limit() -> None:
    program = load_text(SourceText("t.pml", FOR_EVER))
    answer = ask("program orders", Task(in_form(program), TSO, Keeps(Criterion.PO)).within(most_states=500))
    assert answer.verdict is Verdict.UNKNOWN and answer.stop is Stop.STATES
    assert check(program, CheckOptions(criterion="po", timeout_seconds=1)).verdict is Verdict.UNKNOWN


@WEAKER
def test_sc_is_not_compared_with_itself_and_pso_not_at_all(criterion: Criterion) -> None:
    program = in_form(load_text(SourceText("t.pml", SPINNING)))
    assert ask("program orders", Task(program, SC, Keeps(criterion))).verdict is Verdict.HOLDS
    other = Task(program, PSO, Keeps(criterion))
    assert ask("program orders", other).verdict is Verdict.UNKNOWN
    assert ask("implied", replace(other, model=PSO)).verdict is Verdict.UNKNOWN
