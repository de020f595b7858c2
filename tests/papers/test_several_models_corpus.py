"""Litmus tests for C11 and ARMv8 with their authors' answers, and the x86 ones with all their final states, by SAT.

An answer of 1 says that the condition is true, quantifier included. The oracle is asked in `test_cat_on_corpus`.
"""

from __future__ import annotations

import csv
from functools import cache
from typing import Literal

import pytest

from memfence import load
from memfence.axiomatic.library import models_named
from memfence.axiomatic.unroll import unroll
from memfence.diagnostics import InputError
from memfence.engines.axiomatic.goals import Ends
from memfence.engines.axiomatic.solve import Executions, Found, Nothing
from memfence.program.expressions import negate
from memfence.program.ir import Final, Program
from papers.test_litmus_corpus import ROWS as X86_ROWS
from papers.test_litmus_corpus import assert_known, condition_of
from papers.test_litmus_corpus import program as x86_program
from support.corpus import CORPUS, needs_corpus
from support.sampling import listed

FOLDER = CORPUS / "portable"
TABLE = FOLDER / "expected.csv"
ROWS = list(csv.DictReader(TABLE.read_text().splitlines())) if TABLE.is_file() else []
ROUNDS = 2
"""No test of the corpus has a loop that goes round more often."""
NOT_READ = {"AARCH64/TUTO/MP+nondep+dmb.sy.litmus"}
"""Addresses in memory."""
READ = [row for row in ROWS if row["file"] not in NOT_READ]
SAMPLE = [*READ[:72:6], *READ[72::30]]

pytestmark = needs_corpus


def named(row: dict[str, str]) -> str:
    return row["file"].removesuffix(".litmus")


def condition(program: Program) -> Final:
    (stated,) = program.properties
    assert isinstance(stated, Final)
    return stated


@cache
def loaded(file: str) -> Program:
    return load(FOLDER / file)


def answer(file: str, model: str) -> set[bool]:
    """Whether the condition is true, for each choice that the model leaves to a compiler."""
    program = loaded(file)
    stated = condition(program)
    goal = Ends(negate(stated.expr) if stated.quantifier == "forall" else stated.expr)
    asked = Executions(unroll(program, ROUNDS))
    choices = models_named(model, language=program.language)
    found = {type(asked.find(asked.add(one), goal)) for one in choices}
    assert found <= {Found, Nothing}
    return {(kind is Found) == (stated.quantifier == "exists") for kind in found}


def test_the_tests_that_cannot_be_read_are_refused_and_few() -> None:
    refused = set()
    for row in ROWS:
        try:
            loaded(row["file"])
        except InputError:
            refused.add(row["file"])
    assert refused == NOT_READ
    assert len(refused) < len(ROWS) / 50


@listed("row", SAMPLE, [row for row in READ if row not in SAMPLE], ids=named)
def test_each_has_the_answer_of_its_authors(row: dict[str, str]) -> None:
    assert answer(row["file"], row["model"]) == {row["allowed"] == "1"}


def final_states(path: str, model: Literal["sc", "tso", "pso"]) -> set[tuple[int, ...]]:
    program = x86_program(path)
    asked = Executions(unroll(program, ROUNDS))
    (one,) = models_named(model)
    observed = [expr for _, expr in condition_of(program).observed]
    return {outcome.values for outcome in asked.outcomes(asked.add(one), observed)}


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@listed("row", X86_ROWS[::60], [row for n, row in enumerate(X86_ROWS) if n % 60], ids=lambda row: row["name"])
def test_each_for_x86_ends_exactly_as_known(row: dict[str, str], model: Literal["sc", "tso", "pso"]) -> None:
    assert_known(row, model, final_states(row["path"], model))
