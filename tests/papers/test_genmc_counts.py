"""How many executions small C programs have under RC11, as GenMC counts them: those in which every thread ends."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from memfence import load
from memfence.axiomatic.library import models_named
from memfence.axiomatic.synchronised import synchronised
from memfence.axiomatic.unroll import unroll
from memfence.engines.axiomatic.goals import Ends
from memfence.engines.axiomatic.solve import Executions
from memfence.program.expressions import TRUE
from support.c_compiler import HAS_CLANG
from support.corpus import CORPUS, needs_corpus

TABLE = CORPUS / "portable" / "genmc_litmus_counts.csv"
PROGRAMS = CORPUS / "c" / "genmc" / "correct" / "litmus"
ROWS = list(csv.DictReader(TABLE.read_text().splitlines())) if TABLE.is_file() else []
OTHERWISE = {"WWmerge1": 18}
"""GenMC has 17: its RC11 orders SC accesses around happens-before (`[SC];po;hb;po;[SC]`), the paper's does not."""
SMALL = {"2+2W+3sc+rel1", "CoRW", "LB+ctrl", "MP+relf+acq", "SB", "W+JW", "atomicpo", "rii"}

pytestmark = [needs_corpus, pytest.mark.skipif(not HAS_CLANG, reason="neither ziglang nor clang is installed")]


def variants(folder: str) -> list[Path]:
    return sorted((PROGRAMS / folder / "variants").glob("*.c"))


def executions(path: Path) -> int:
    asked = Executions(unroll(synchronised(load(path)), 1))
    (model,) = models_named("rc11")
    return sum(1 for _ in asked.all(asked.add(model), Ends(TRUE)))


def assert_counted(row: dict[str, str]) -> None:
    known = OTHERWISE.get(row["folder"], int(row["rc11"].split("|")[0]))
    assert {path.name: executions(path) for path in variants(row["folder"])} == {
        path.name: known for path in variants(row["folder"])
    }
    assert variants(row["folder"])


@pytest.mark.parametrize("row", [row for row in ROWS if row["folder"] in SMALL], ids=lambda row: row["folder"])
def test_a_sample_has_as_many_executions_as_genmc_counts(row: dict[str, str]) -> None:
    assert_counted(row)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["folder"])
def test_every_program_has_as_many_executions_as_genmc_counts(row: dict[str, str]) -> None:
    assert_counted(row)
