"""The tables of Linden and Wolper 2010 and 2013, on models of our own: verdicts and symbolic states.

Models differ from the authors' (which are not published), so states are compared on the geometric mean only.
"""

from __future__ import annotations

from math import exp, log
from pathlib import Path

import pytest

from memfence.engines.bounded_witness import find_bounded_witness
from memfence.engines.native.symbolic import SymbolicResult, explore_symbolic
from memfence.models.spec import PSO, TSO, ModelSpec
from memfence.pipeline import load, load_text
from memfence.questions.safety import goal_of
from memfence.source import SourceText
from memfence.tasks.limits import Limits
from memfence.tasks.task import Task
from support.corpus import published

MODELS = Path(__file__).resolve().parents[2] / "examples" / "linden_wolper"
REDUCTIONS = frozenset({"dead", "fuse", "order", "slice"})

# (program, variant) of the 2010 table -> model; errors under TSO without fences.
TABLE_2010 = {
    (program, variant): f"{program.lower()}_{name}"
    for program in ("Dekker", "Peterson")
    for variant, name in (
        ("single entry", "single"),
        ("single entry + sync", "single_sync"),
        ("repeated entry", "repeated"),
        ("repeated entry + sync", "repeated_sync"),
    )
}

TABLE_2013 = {
    "Dekker": "dekker",
    "Peterson": "peterson",
    "Generalized Peterson": "generalised_peterson",
    "Lamport's Bakery": "bakery",
    "Burns": "burns",
    "Szymanski": "szymanski",
    "Dijkstra": "dijkstra",
    "Lamport's Fast Mutex": "lamport_fast",
    "Alternating bit": "alternating_bit",
    "Clh queue lock": "clh",
    "Increasing Sequence (limit 10)": "increasing_sequence",
}
NEEDS_NO_FENCE = {"alternating_bit", "clh", "increasing_sequence"}


def rows(name: str) -> list[dict[str, str]]:
    return published(name) or pytest.skip("tables not found at ../shared/tables")


def check(model: str, memory: ModelSpec, *, fences: bool = True) -> SymbolicResult:
    path = MODELS / f"{model}.pml"
    if fences:
        program = load(path)
    else:
        text = path.read_text().replace("mfence()", "skip").replace("sfence()", "skip")
        program = load_text(SourceText(str(path), text))
    question = goal_of(program, program.properties)
    return explore_symbolic(program, memory, question, limits=Limits(timeout_seconds=60), reductions=REDUCTIONS)


def geometric_mean(ratios: list[float]) -> float:
    return exp(sum(log(ratio) for ratio in ratios) / len(ratios))


@pytest.mark.parametrize("key", TABLE_2010, ids=" ".join)
def test_dekker_and_peterson_have_errors_exactly_where_the_2010_table_has(key: tuple[str, str]) -> None:
    (row,) = (r for r in rows("linden-wolper-2010-table2") if (r["program"], r["variant"]) == key)
    result = check(TABLE_2010[key], TSO)
    assert result.found == (int(row["errors"]) > 0)
    assert result.found or result.complete
    if result.found:
        question = goal_of(result.program, result.program.properties)
        trace = find_bounded_witness(Task(result.program, TSO, question))
        assert trace is not None


@pytest.mark.parametrize("program", TABLE_2013)
def test_fenced_programs_of_the_2013_table_are_proven_under_pso(program: str) -> None:
    result = check(TABLE_2013[program], PSO)
    assert result.complete
    assert not result.found


@pytest.mark.parametrize("model", sorted(set(TABLE_2013.values()) - NEEDS_NO_FENCE))
def test_without_its_fences_a_fenced_program_fails(model: str) -> None:
    assert check(model, TSO, fences=False).found


def test_stored_states_are_at_most_those_of_the_2010_table_on_the_geometric_mean() -> None:
    proven = [row for row in rows("linden-wolper-2010-table2") if row["errors"] == "0"]
    ratios = [
        check(TABLE_2010[row["program"], row["variant"]], TSO).statistics.stored / int(row["states_stored"])
        for row in proven
    ]
    assert geometric_mean(ratios) <= 1


def test_stored_states_are_at_most_those_of_the_2013_table_on_the_geometric_mean() -> None:
    ratios = [
        check(TABLE_2013[row["program"]], PSO).statistics.stored / int(row["states"])
        for row in rows("linden-wolper-2013-table1")
    ]
    assert geometric_mean(ratios) <= 1
