"""Our cat texts for C11 and ARMv8 on litmus tests by others: the enumerating oracle gives every stored answer."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace

import pytest

from memfence.axiomatic.execution import Execution
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.synchronised import synchronised
from memfence.axiomatic.unroll import unroll
from memfence.models.cat.reader import library_text, parse
from memfence.pipeline import load
from memfence.program.expressions import Expr, RegisterOf, Shared, evaluate
from memfence.program.ir import Final, Program
from memfence.source import SourceText
from support.c_compiler import HAS_CLANG
from support.corpus import CORPUS, needs_corpus
from twins.enumeration import executions

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


# GenMC stores how many executions a program has. Its C11 is stronger than the published one: `[SC]; po; hb; po; [SC]`.

TOO_MANY = {"inc+inc+RR+W+RR"}
"""Five threads: more than enumeration can do."""


def as_genmc_has_it() -> AxiomaticModel:
    (model,) = models_named("rc11")
    text = library_text("rc11.cat").text
    stronger = text.replace("let po-elsewhere = po \\ loc", "let po-elsewhere = po")
    assert stronger != text
    return replace(model, cat=parse(SourceText("genmc.cat", stronger)))


def counts() -> list[tuple[str, set[int], set[int]]]:
    """The folders, with how many executions there are under SC and C11; variants may differ."""
    table = PORTABLE / "genmc_litmus_counts.csv"
    if not table.is_file():
        return []
    with table.open(newline="") as file:
        rows = [(row["folder"], row["sc"], row["rc11"]) for row in csv.DictReader(file)]
    return [(folder, set(map(int, sc.split("|"))), set(map(int, rc11.split("|")))) for folder, sc, rc11 in rows]


def count(folder: str, model: AxiomaticModel) -> int:
    path = CORPUS / "c" / "genmc" / "correct" / "litmus" / folder
    code = unroll(synchronised(load(sorted(path.glob("variants/*.c"))[0])), 1)
    return sum(found.ended or bool(found.failed) for found in executions(code, model))


@needs_corpus
@pytest.mark.slow
@pytest.mark.skipif(not HAS_CLANG, reason="neither ziglang nor clang is installed")
def test_there_are_as_many_executions_as_genmc_finds() -> None:
    rows = [row for row in counts() if row[0] not in TOO_MANY]
    assert len(rows) >= 47
    (sequential,) = models_named("sc")
    assert [folder for folder, expected, _ in rows if count(folder, sequential) not in expected] == []
    assert [folder for folder, _, expected in rows if count(folder, as_genmc_has_it()) not in expected] == []
