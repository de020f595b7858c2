"""Table 1 of the persistence paper: persistent where Persist inserted no fence, robust where Trencher inserted none.

Decided by complete search, with no more states than the yardstick. `benchmarks/persistence.py` prints the whole table.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from paper_tables.persistence import INT_BITS

from memfence.engines.native.attacks import AttackKind, explore_attacks
from memfence.passes.shared_memory_form import shared_memory_form
from memfence.pipeline import load
from memfence.program.ir import Program
from memfence.program.load_options import LoadOptions
from memfence.questions import check
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Limits
from memfence.tasks.options import CheckOptions
from support.corpus import CORPUS, needs_corpus, published

LARGE = {
    "peterson",
    "clhlock",
    "bakery3",
    "bakery4",
    "burns",
    "szymanski4",
    "parker",
    "nbw_w_wr",
    "dijkstra",
    "nbw_w_5r",
    "LIFO-iWSQ",
}
NOT_EXPLORED = {"peterson", "clhlock"}
"""Rows whose complete exploration takes minutes: their verdict is a run, found at once."""


ROWS = {row["file"].rsplit("/", 1)[1]: row for row in published("persistence-2015-table1")}
YARDSTICK = {row["program"]: int(row["states"]) for row in published("yardstick-persistence")}
EVERY_ROW = [pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name for name in ROWS]


def program(name: str) -> Program:
    return load(Path(CORPUS, "persist", f"{ROWS[name]['file']}.txt"), LoadOptions(int_bits=INT_BITS.get(name, 8)))


@needs_corpus
def test_the_table_has_35_rows() -> None:
    assert len(ROWS) == 35


@needs_corpus
@pytest.mark.parametrize("name", EVERY_ROW)
def test_a_row_is_persistent_exactly_where_persist_inserted_no_fence(name: str) -> None:
    loaded = program(name)
    expected = Verdict.HOLDS if ROWS[name]["persist_fences"] == "0" else Verdict.VIOLATED
    assert check(loaded, CheckOptions(criterion="persistent")).verdict is expected
    assert check(loaded, CheckOptions(criterion="persistent", abstract=2)).verdict is expected
    if name not in NOT_EXPLORED:
        explored = explore_attacks(
            shared_memory_form(loaded),
            AttackKind.PERSISTENCE,
            collect=True,
            limits=Limits(memory_megabytes=4_000, threads=2),
        )
        assert explored.complete
        assert bool(explored.attacks) == (expected is Verdict.VIOLATED)
        assert explored.cost.states <= YARDSTICK.get(name, explored.cost.states)


@needs_corpus
@pytest.mark.parametrize("name", [p for p in EVERY_ROW if not isinstance(p, str) or ROWS[p]["trencher_fences"]])
def test_a_row_is_robust_exactly_where_trencher_inserted_no_fence(name: str) -> None:
    if not ROWS[name]["trencher_fences"]:
        pytest.skip("Trencher gave no answer")
    expected = Verdict.HOLDS if ROWS[name]["trencher_fences"] == "0" else Verdict.VIOLATED
    assert check(program(name), CheckOptions(criterion="robust")).verdict is expected
