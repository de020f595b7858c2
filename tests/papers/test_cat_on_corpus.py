"""Our cat texts for C11 and ARMv8 on litmus tests by others: the enumerating oracle gives every stored answer."""

from __future__ import annotations

import csv
from collections.abc import Iterator

import pytest

from memfence.axiomatic.enumeration import executions
from memfence.axiomatic.execution import Execution
from memfence.axiomatic.library import models_named
from memfence.axiomatic.unroll import unroll
from memfence.pipeline import load
from memfence.program.expressions import Expr, RegisterOf, Shared, evaluate
from memfence.program.ir import Final, Program
from support.corpus import CORPUS, needs_corpus

PORTABLE = CORPUS / "portable"
UNREADABLE = {"AARCH64/TUTO/MP+nondep+dmb.sy.litmus"}
"""It has addresses in memory."""

HOW_OFTEN = 2
"""Loops are gone round at most so often: enough for every test here."""


def stored(folder: str) -> list[tuple[str, str, bool]]:
    """File, model, and whether the condition is true in the sense of its quantifier."""
    table = PORTABLE / "expected.csv"
    if not table.is_file():
        return []
    with table.open(newline="") as file:
        rows = [(row["file"], row["model"], row["allowed"] == "1") for row in csv.DictReader(file)]
    return [row for row in rows if row[0].startswith(folder)]


def is_true(execution: Execution, expr: Expr) -> bool:
    def leaf(node: object, index: int) -> int:
        match node:
            case RegisterOf(process, register):
                return execution.registers[process][register]
            case Shared(address):
                return execution.memory[address.base + index]
        raise AssertionError(node)

    return evaluate(expr, leaf) != 0


def last_states(program: Program, model: str) -> Iterator[Execution]:
    code = unroll(program, HOW_OFTEN)
    for variant in models_named(model, language=program.language):
        yield from (found for found in executions(code, variant) if found.ended)


def answer(file: str, model: str) -> bool:
    program = load(PORTABLE / file)
    (final,) = (p for p in program.properties if isinstance(p, Final))
    truths = (is_true(found, final.expr) for found in last_states(program, model))
    match final.quantifier:
        case "exists":
            return any(truths)
        case "not exists":
            return not any(truths)
        case "forall":
            return all(truths)


@needs_corpus
def test_c11_is_as_stored() -> None:
    rows = stored("C11/")
    assert len(rows) >= 72
    assert [file for file, model, expected in rows if answer(file, model) != expected] == []


@needs_corpus
@pytest.mark.slow
def test_armv8_is_as_stored() -> None:
    rows = [row for row in stored("AARCH64/") if row[0] not in UNREADABLE]
    assert len(rows) >= 1018
    assert [file for file, model, expected in rows if answer(file, model) != expected] == []
