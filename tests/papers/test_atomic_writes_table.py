"""Barnat, Brim and Havel: the example of their Fig. 6, and the atomic writes of their Table I."""

from __future__ import annotations

import pytest
from atomic_table import EXAMPLES, ROWS, Row, assignments

from memfence.passes.atomic_writes import AtomicWrite, WaitsFor, with_atomic_writes, writes_of
from memfence.pipeline import load
from memfence.program.ir import Ltl, Program
from memfence.questions.ltl.check import claim_of_formula, decide
from memfence.synthesis.atomic_writes import AtomicFix
from memfence.synthesis.options import Minimise
from memfence.synthesis.result import FixVerdict
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Limits
from support.models import spec

FIGURE_6 = Row("Fig. 6", EXAMPLES / "increments.dve", "F (x == 2 && y > 0)", 4, 2)
TSO_VAR = spec("tso", 1, per_variable=True)
EVERY_ROW = [
    pytest.param(row, id=row.path.stem, marks=pytest.mark.skipif(not row.path.exists(), reason="corpus not found"))
    for row in ROWS
]


def holds(program: Program, formula: str) -> bool:
    found = decide(program, claim_of_formula(Ltl("ltl", formula), program, {}), TSO_VAR, limits=Limits())
    assert found.verdict is not Verdict.UNKNOWN
    return found.trace is None


def check_every_write(row: Row, result: AtomicFix) -> None:
    """The writes are enough, and none can be left out: checked from scratch on the program with these writes atomic."""
    program = row.load()
    chosen = frozenset(one.write for one in result.chosen)
    assert result.verdict is FixVerdict.FIXED
    assert holds(with_atomic_writes(program, chosen, waits_for=result.waits_for), row.formula)
    for write in chosen:
        without = with_atomic_writes(program, chosen - {write}, waits_for=result.waits_for)
        assert not holds(without, row.formula), write


@pytest.mark.parametrize("minimise", ["count", "first"])
def test_both_writes_to_x_of_figure_6_must_be_atomic(minimise: Minimise) -> None:
    result = FIGURE_6.fix(minimise)
    assert [one.write for one in result.chosen] == [AtomicWrite(0, 0, "x"), AtomicWrite(1, 0, "x")]
    check_every_write(FIGURE_6, result)


def test_no_other_two_writes_of_figure_6_are_enough() -> None:
    program = FIGURE_6.load()
    writes = writes_of(program)
    enough = [
        pair
        for place, first in enumerate(writes)
        for pair in [(first, second) for second in writes[place + 1 :]]
        if holds(with_atomic_writes(program, pair), FIGURE_6.formula)
    ]
    assert enough == [(AtomicWrite(0, 0, "x"), AtomicWrite(1, 0, "x"))]


def test_one_is_enough_where_atomic_writes_wait_for_every_process() -> None:
    """The paper's rule 3 as it is printed contradicts what the paper says about Fig. 6."""
    result = FIGURE_6.fix(waits_for="all")
    assert len(result.chosen) == 1
    check_every_write(FIGURE_6, result)


@pytest.mark.parametrize("row", EVERY_ROW)
def test_no_larger_part_of_the_writes_must_be_atomic_than_in_the_paper(row: Row) -> None:
    result = row.fix()
    assert result.is_minimum
    assert len(result.chosen) / len(writes_of(row.load())) <= row.paper_atomic / row.paper_writes
    check_every_write(row, result)


@pytest.mark.parametrize("row", EVERY_ROW)
def test_the_papers_loop_needs_no_larger_part_either(row: Row) -> None:
    result = row.fix("first")
    assert result.found_first is not None
    assert result.found_first / len(writes_of(row.load())) <= row.paper_atomic / row.paper_writes
    check_every_write(row, result)


@pytest.mark.parametrize("waits_for", ["own", "all"])
@pytest.mark.parametrize("formula", ["G !(P@cs && Q@cs)"])
@pytest.mark.parametrize("name", ["peterson", "dekker"])
def test_the_shipped_locks_are_fixed(name: str, formula: str, waits_for: WaitsFor) -> None:
    row = Row(name, EXAMPLES / f"{name}.dve", formula, 1, 1)
    check_every_write(row, row.fix(waits_for=waits_for))


def test_the_writes_of_lamport_are_as_many_as_in_the_paper() -> None:
    (lamport,) = (row for row in ROWS if row.model == "Lamport")
    if not lamport.path.exists():
        pytest.skip("corpus not found at ../shared/corpus")
    assert assignments(load(lamport.path)) == lamport.paper_writes
