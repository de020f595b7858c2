"""How many executions small C programs have under RC11 and SC, as GenMC counts those in which every thread ends."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from memfence import load
from memfence.api.run import run
from memfence.axiomatic.library import models_named
from memfence.axiomatic.synchronised import synchronised
from memfence.axiomatic.unroll import unroll
from memfence.engines.axiomatic.goals import Ends
from memfence.engines.axiomatic.solve import Executions
from memfence.engines.native.graphs import Asked, GraphCode
from memfence.program.expressions import TRUE
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Limits, Stop
from support.c_compiler import HAS_CLANG
from support.corpus import CORPUS, needs_corpus
from support.sampling import listed

TABLE = CORPUS / "portable" / "genmc_litmus_counts.csv"
PROGRAMS = CORPUS / "c" / "genmc" / "correct" / "litmus"
ROWS = list(csv.DictReader(TABLE.read_text().splitlines())) if TABLE.is_file() else []
OTHERWISE = {"WWmerge1": 18}
"""GenMC has 17: its RC11 orders SC accesses around happens-before (`[SC];po;hb;po;[SC]`), the paper's does not."""
ONE_STEP = {"LB+ctrl"}
"""Under SC the tool's steps of several accesses are single instants, and the explorer takes no such steps."""
SMALL = {"2+2W+3sc+rel1", "CoRW", "LB+ctrl", "MP+relf+acq", "SB", "W+JW", "atomicpo", "rii"}

pytestmark = [needs_corpus, pytest.mark.skipif(not HAS_CLANG, reason="neither ziglang nor clang is installed")]


def folder_of(row: dict[str, str]) -> str:
    return row["folder"]


def variants(folder: str) -> list[Path]:
    return sorted((PROGRAMS / folder / "variants").glob("*.c"))


def by_solver(path: Path, name: str) -> int:
    asked = Executions(unroll(synchronised(load(path)), 1))
    (model,) = models_named(name)
    return sum(1 for _ in asked.all(asked.add(model), Ends(TRUE)))


def by_graphs(path: Path, name: str) -> int:
    (model,) = models_named(name)
    graphs = GraphCode(unroll(synchronised(load(path)), 1), model)
    found = graphs.explore(Asked(races_branch=True, keep=1), Limits())
    assert found.stop is Stop.NOTHING_LEFT
    return found.counts.executions


def assert_counted(row: dict[str, str], model: str, count: Callable[[Path, str], int]) -> None:
    known = int(row[model].split("|")[0])
    known = OTHERWISE.get(row["folder"], known) if model == "rc11" else known
    assert {path.name: count(path, model) for path in variants(row["folder"])} == {
        path.name: known for path in variants(row["folder"])
    }
    assert variants(row["folder"])


FOLDERS = listed(
    "row", [r for r in ROWS if r["folder"] in SMALL], [r for r in ROWS if r["folder"] not in SMALL], ids=folder_of
)


@FOLDERS
def test_programs_have_as_many_executions_as_genmc_counts(row: dict[str, str]) -> None:
    assert_counted(row, "rc11", by_solver)


@FOLDERS
@pytest.mark.parametrize("model", ["rc11", "sc"])
def test_the_explorer_visits_as_many_executions_as_genmc_counts(row: dict[str, str], model: str) -> None:
    if model != "sc" or row["folder"] not in ONE_STEP:
        assert_counted(row, model, by_graphs)


RACING = {"MP+rels+acqf", "MPU2+rels+acq"}
"""Under the release sequences of C++20; an execution that races is told, and not followed."""
WITH_HEADER = {"SB", "WWR+2WR"}
"""They include a header of GenMC, which no compiler has."""


def by_running(path: Path, name: str) -> int:
    result = run(path, model=name, timeout_seconds=60)
    assert result.verdict is Verdict.HOLDS
    return result.counts.executions


@FOLDERS
def test_compiled_programs_have_as_many_executions_as_genmc_counts(row: dict[str, str]) -> None:
    if row["folder"] in RACING | WITH_HEADER:
        pytest.skip("it races under C++20's release sequences, or includes a header of GenMC's own")
    known = OTHERWISE.get(row["folder"], int(row["rc11"].split("|")[0]))
    assert by_running(variants(row["folder"])[0], "rc11") == known
