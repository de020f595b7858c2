"""`compare` derives an answer only where computing it gives the same, and counts fences as `fix` does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from memfence.models.spec import PSO, TSO
from memfence.pipeline import load
from memfence.program.ir import Ltl, Program
from memfence.questions import check
from memfence.questions.compare import Comparison, compare
from memfence.source import SourceText
from memfence.synthesis.comparison import compare as compare_with_fences
from memfence.synthesis.options import FixOptions
from memfence.synthesis.result import FixVerdict
from memfence.synthesis.synthesise import fix_fences as fix
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.implications import STRONGEST_FIRST
from memfence.tasks.options import CheckOptions
from support.generators.criteria_programs import RICH, criteria_programs

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MANY = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@MANY
@given(program=criteria_programs(RICH - {"assertions"}))
def test_derived_answers_are_those_that_a_check_gives(program: Program) -> None:
    comparison = compare(program)
    assert [row.requirement for row in comparison.rows] == list(STRONGEST_FIRST)
    for row in comparison.rows:
        checked = check(program, CheckOptions(criterion=row.requirement.criterion, model=row.requirement.model.name))
        assert row.verdict is checked.verdict, row.requirement.name


def test_some_answers_are_derived_and_some_computed() -> None:
    rows = compare(load(EXAMPLES / "spsc_ring.pml")).rows
    derived = {row.requirement.name: row.implied_by.name for row in rows if row.implied_by is not None}
    assert derived == {"state-robust-tso": "persistent"}
    assert all(row.stats.states == 0 for row in rows if row.implied_by is not None)
    assert all(row.stats.states > 0 for row in rows if row.implied_by is None)


@pytest.mark.parametrize("example", ["peterson", "message_passing", "lamport_fast"])
def test_fences_are_those_that_fix_inserts(example: str) -> None:
    program = load(EXAMPLES / f"{example}.pml")
    for row in compare_with_fences(program).rows:
        fixed = fix(program, FixOptions(criterion=row.requirement.criterion, model=row.requirement.model.name))
        assert row.fences is not None
        assert row.fences.impossible == (fixed.verdict is FixVerdict.IMPOSSIBLE)
        assert row.fences.count == (None if row.fences.impossible else fixed.chosen.count)
        assert row.fences.fewest
        assert (row.fences.count == 0) == (row.verdict is Verdict.HOLDS)


def test_without_time_no_count_is_claimed() -> None:
    program = load(EXAMPLES / "chase_lev.pml")
    rows = compare_with_fences(program, CheckOptions(timeout_seconds=0.0)).rows
    safety = [row.fences for row in rows if row.requirement.criterion == "safety"]
    assert [(needed.count, needed.impossible) for needed in safety if needed is not None] == [(None, False)] * 2


def ask_of_infinite_runs(file: str, formula: str, **options: object) -> Comparison:
    program = load(EXAMPLES / "dve" / file)
    ltl = Ltl("ltl", formula, SourceText("--ltl", formula).span(0, len(formula)))
    asked = CheckOptions(ltl=ltl, **options)  # type: ignore[arg-type]
    comparison = compare(program, asked)
    for row in comparison.rows:
        if row.requirement.criterion is Criterion.SAFETY:
            model = row.requirement.model.name
            assert row.verdict is check(program, replace(asked, criterion=Criterion.SAFETY, model=model)).verdict
    return comparison


@pytest.mark.parametrize(
    ("file", "formula", "bound", "affected"),
    [
        ("increments.dve", "F (x == 2 && y > 0)", None, True),  # holds under SC alone
        ("increments.dve", "G (x == 0)", None, False),  # violated everywhere
        ("peterson.dve", "G (P@wait -> F P@cs)", 1, None),  # holds, with one store pending at most
    ],
)
def test_a_formula_is_affected_by_a_model_if_its_answer_differs_from_that_under_sc(
    file: str, formula: str, bound: int | None, affected: bool | None
) -> None:
    comparison = ask_of_infinite_runs(file, formula, fair=True, buffer_bound=bound)
    assert comparison.asks_infinite_runs
    assert [comparison.is_affected(model) for model in (TSO, PSO)] == [affected, affected]


def test_without_a_formula_nothing_is_said_about_infinite_runs() -> None:
    comparison = compare(load(EXAMPLES / "peterson.pml"))
    assert not comparison.asks_infinite_runs and comparison.is_affected(TSO) is None
