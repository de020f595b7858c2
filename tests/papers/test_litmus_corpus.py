"""The 487 x86 litmus tests of the corpus: observation and complete set of final states under SC, TSO and PSO."""

from __future__ import annotations

import csv
import gzip
import json
from functools import cache

import pytest

from memfence import CheckOptions, check, load
from memfence.models.spec import ModelName
from memfence.program.ir import Final, Program
from memfence.report.formats.herd import observation, show_state
from support.corpus import CORPUS, needs_corpus
from support.exploration import final_states

FOLDER = CORPUS / "litmus"
TABLE = FOLDER / "table.csv"
ROWS = list(csv.DictReader(TABLE.read_text().splitlines())) if TABLE.is_file() else []

# `final (...) with tso: ~exists`: the table reads it as `exists`, memfence takes the branch for TSO.
WITH_BRANCHES = {"amd10", "amd5", "amd6", "mfence", "n3", "nofence", "rwc-fenced"}

pytestmark = needs_corpus


@cache
def states_by_test() -> dict[str, dict[str, list[str]]]:
    with gzip.open(FOLDER / "states.json.gz", "rt") as file:
        known: dict[str, dict[str, list[str]]] = json.load(file)
    return known


@cache
def program(path: str) -> Program:
    return load(FOLDER / path)


def condition_of(program: Program) -> Final:
    (condition,) = program.properties
    assert isinstance(condition, Final)
    return condition


def assert_known(row: dict[str, str], model: ModelName, states: set[tuple[int, ...]]) -> None:
    condition = condition_of(program(row["path"]))
    assert sorted(show_state(condition, state) for state in states) == sorted(states_by_test()[row["path"]][model])
    assert observation(condition, states) == row[f"obs_{model.upper()}"]


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_final_states_are_exactly_the_known_ones(row: dict[str, str], model: ModelName) -> None:
    result = check(program(row["path"]), CheckOptions(model=model))
    assert result.final_states is not None
    assert_known(row, model, {values for values, _ in result.final_states})


@pytest.mark.slow
@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_the_reference_models_have_exactly_the_known_final_states(row: dict[str, str], model: ModelName) -> None:
    assert_known(row, model, final_states(program(row["path"]), model))


def test_the_corpus_is_complete() -> None:
    assert len(ROWS) == 487


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_the_condition_is_printed_as_herd_prints_it(row: dict[str, str]) -> None:
    test = program(row["path"])
    text = condition_of(test).text
    expected = f"~{row['condition']}" if row["name"] in WITH_BRANCHES else row["condition"]
    assert (test.name, text) == (row["name"], expected)
