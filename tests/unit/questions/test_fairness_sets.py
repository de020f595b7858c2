"""Fairness is a number of acceptance sets, one per buffer: 4 processes x 6 variables make 24, and each one counts."""

from __future__ import annotations

import pytest

from memfence.engines.native.emptiness import Emptiness, find_accepted_run
from memfence.models.fairness import BufferDrains, Condition, memory_fairness
from memfence.models.state import ProcessStep
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import At, Binary, Const, Shared, variable_address
from memfence.program.ir import Domain, Fence, Process, Program, SharedVar, Store
from memfence.questions.ltl.formula import Atom, Not, always, eventually, implies
from memfence.questions.ltl.translate import translate
from memfence.tasks.task import BuchiEdge, NoAcceptedRun
from support.models import spec

PSO = spec("pso", 1)
PROCESSES, VARIABLES = 4, 6


def stores_in_turn(number: int) -> Process:
    """Stores to six variables of its own, with a fence after each; then goes round in a circle."""
    builder = ProcessBuilder(f"P{number}", "P")
    here = builder.location()
    for variable in range(number * VARIABLES, (number + 1) * VARIABLES):
        between, after = builder.location(), builder.location()
        builder.emit(here, between, Store(variable_address(variable), Const(1)))
        builder.emit(between, after, Fence("mfence"))
        here = after
    builder.emit(here, here)
    return builder.build(0)


PROGRAM = Program(
    "stores",
    tuple(SharedVar(f"x{n}", Domain(0, 1)) for n in range(PROCESSES * VARIABLES)),
    tuple(stores_in_turn(p) for p in range(PROCESSES)),
)
EVERY_BUFFER = memory_fairness(PROGRAM, PSO.definition)


def decide(process: int, buffer: int, conditions: tuple[Condition, ...]) -> Emptiness:
    """Does the store of `process` to the variable of `buffer` reach memory whenever it was issued?"""
    automaton = translate(Not(always(implies(Atom(0), eventually(Atom(1))))))
    edges = tuple(
        tuple(BuchiEdge(e.target, e.positive, e.negative, e.marks) for e in leaving) for leaving in automaton.edges
    )
    issued = At(process, frozenset({1 + 2 * buffer}))
    written = Binary("==", Shared(variable_address(process * VARIABLES + buffer)), Const(1))
    goal = NoAcceptedRun(edges, automaton.initial, automaton.marks, (issued, written), conditions)
    found = find_accepted_run(PROGRAM, PSO, goal)
    assert found.lasso is not None or found.complete
    return found


def test_there_is_one_condition_a_process_and_variable() -> None:
    assert tuple(BufferDrains(p, b) for p in range(PROCESSES) for b in range(VARIABLES)) == EVERY_BUFFER


def test_every_store_reaches_memory_under_all_24_conditions() -> None:
    assert decide(PROCESSES - 1, VARIABLES - 1, EVERY_BUFFER).lasso is None


@pytest.mark.parametrize(
    "missing",
    [pytest.param(n, marks=() if n % 5 == 0 else pytest.mark.slow) for n in range(PROCESSES * VARIABLES)],
)
def test_it_need_not_where_one_of_them_is_missing(missing: int) -> None:
    others = EVERY_BUFFER[:missing] + EVERY_BUFFER[missing + 1 :]
    found = decide(missing // VARIABLES, missing % VARIABLES, others)
    assert found.lasso is not None
    kinds = {type(taken.step) for taken in found.lasso.trace.steps[found.lasso.loop_start :]}
    assert ProcessStep in kinds, "another process goes on meanwhile"
