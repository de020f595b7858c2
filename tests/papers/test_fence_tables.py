"""Fence counts of the papers and of other tools, on their own programs where these are published, proven minimum.

Each fixed program is read again and checked, and so is every version of it with one fence less.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from paper_tables.persistence import INT_BITS

from memfence.pipeline import load
from memfence.program.load_options import LoadOptions
from memfence.synthesis.options import FixOptions
from memfence.synthesis.result import FixResult, FixVerdict
from memfence.synthesis.synthesise import count_fences
from memfence.tasks.criterion import Criterion
from support.corpus import CORPUS, needs_corpus, published
from support.fixed_programs import fixed_and_needed

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SLOW_ROWS = {"bakery3", "bakery4", "burns", "szymanski4", "parker", "nbw_w_wr", "nbw_w_5r", "LIFO-iWSQ", "cilk-the-wsq"}
"""Rows of Table 1 that take more than a second."""
TOO_LARGE = {"peterson", "clhlock"}
"""Rows of Table 1 of which the fixed program takes minutes to check."""
COUNTS_OF: dict[Criterion, str] = {"persistent": "persist_fences", "robust": "trencher_fences"}

# Linden and Wolper 2013, Table 1: our model, mfences and sfences over all processes, and why it is fewer than theirs.
ALGORITHMS = {
    "Dekker": ("dekker", 4, 0),
    "Peterson": ("peterson", 2, 2),
    "Generalized Peterson": ("algorithms/generalised_peterson", 3, 3),
    "Lamport's Bakery": ("bakery", 4, 0),  # the mfence behind the ticket orders the two stores of the doorway as well
    "Burns": ("algorithms/burns", 2, 0),
    "Szymanski": ("szymanski", 4, 0),  # the second door of our model needs none
    "Dijkstra": ("algorithms/dijkstra", 2, 0),
    "Lamport's Fast Mutex": ("lamport_fast", 4, 2),  # raising `busy` and storing `x` may change places
    "Alternating bit": ("algorithms/alternating_bit", 0, 0),
    "Clh queue lock": ("algorithms/clh", 0, 0),
    "Increasing Sequence (limit 10)": ("algorithms/increasing_sequence", 0, 0),
}


def instructions(result: FixResult, kind: str) -> int:
    return sum(len(fence.processes) for fence in result.chosen.fences if fence.kind == kind)


@pytest.mark.parametrize("program", ALGORITHMS)
def test_the_algorithms_of_linden_and_wolper_need_no_more_fences_than_theirs(program: str) -> None:
    file, mfences, sfences = ALGORITHMS[program]
    loaded = load(EXAMPLES / f"{file}.pml")
    under_tso = fixed_and_needed(loaded, FixOptions(model="tso"))
    under_pso = fixed_and_needed(loaded, FixOptions(model="pso"))
    assert under_tso.is_minimum and under_pso.is_minimum
    assert instructions(under_tso, "mfence") == instructions(under_pso, "mfence") == mfences
    assert instructions(under_pso, "sfence") == sfences
    for row in published("linden-wolper-2013-table1"):
        if row["program"] == program:
            assert mfences <= int(row["mfences"]) and sfences <= int(row["sfences"])


@pytest.mark.parametrize("program", ["Peterson", "Lamport's Fast Mutex", "Dekker"])
def test_two_steps_find_the_same_as_one_on(program: str) -> None:
    file, mfences, sfences = ALGORITHMS[program]
    result = fixed_and_needed(load(EXAMPLES / f"{file}.pml"), FixOptions(model="pso", via="tso"))
    assert (instructions(result, "mfence"), instructions(result, "sfence")) == (mfences, sfences)
    assert result.in_one_step is None, "no difference in cost"


@needs_corpus
@pytest.mark.parametrize(
    ("name", "tso", "pso"),
    [
        ("burns", 2, 2), ("dekker", 2, 2), ("dekker.2", 2, 2), ("dijkstra", 2, 2), ("peterson", 2, 4),
        ("sense_rev_bar", 0, 0), ("clh", 0, 0), ("bakery.bound2", 4, 4),
    ],
)  # fmt: skip
def test_memorax_programs_need_at_most_as_many_fences_as_memorax_finds(name: str, tso: int, pso: int) -> None:
    """Memorax: bakery.bound2 6 under PSO, with locked writes; the others as here."""
    program = load(CORPUS / "memorax" / f"{name}.rmm")
    under_tso = fixed_and_needed(program, FixOptions(model="tso"))
    under_pso = fixed_and_needed(program, FixOptions(model="pso"))
    assert under_tso.is_minimum and under_pso.is_minimum
    assert (under_tso.chosen.count, under_pso.chosen.count) == (tso, pso)


@needs_corpus
@pytest.mark.parametrize(
    ("name", "fences"),
    [
        ("simple-dekker", 2), ("peterson", 2), ("dekker", 4), ("lamport-fast-mutex-alg1", 6), ("parker", 1),
        ("trf", 0), ("spinlock", 0), ("mcs-lock", 0),
    ],
)  # fmt: skip
def test_trencher_programs_need_the_known_minimum_for_robustness(name: str, fences: int) -> None:
    result = fixed_and_needed(load(CORPUS / "trencher" / f"{name}.txt"), FixOptions(criterion="robust"))
    assert result.is_minimum
    assert result.chosen.count == fences


def rows_of_table_1(*, slow: bool) -> list[dict[str, str]]:
    rows = [row for row in published("persistence-2015-table1") if Path(row["file"]).name not in TOO_LARGE]
    return [row for row in rows if (Path(row["file"]).name in SLOW_ROWS) == slow]


def check_minimum(row: dict[str, str], criterion: Criterion) -> None:
    name = Path(row["file"]).name
    int_bits = INT_BITS.get(name)
    program = load(CORPUS / "persist" / f"{row['file']}.txt", LoadOptions(int_bits=int_bits))
    result = fixed_and_needed(program, FixOptions(criterion=criterion))
    assert result.verdict in (FixVerdict.FIXED, FixVerdict.ALREADY_HOLDS)
    assert result.is_minimum
    assert result.stats.checks == 1, "one exploration knows every clause"
    count = row[COUNTS_OF[criterion]]
    assert not count or result.chosen.instances == int(count)


@needs_corpus
@pytest.mark.parametrize("criterion", COUNTS_OF)
@pytest.mark.parametrize("row", rows_of_table_1(slow=False), ids=lambda row: Path(row["file"]).name)
def test_no_more_fences_are_needed_than_table_1_says(row: dict[str, str], criterion: Criterion) -> None:
    check_minimum(row, criterion)


@needs_corpus
def test_clhlock_needs_as_many_fences_as_table_1_says_by_its_text() -> None:
    """With the clauses of a few states, the text rules out any other attack: most of the states are never seen."""
    result = count_fences(load(CORPUS / "persist/single/mutex/clhlock/clhlock.txt"), FixOptions(criterion="persistent"))
    assert result.is_minimum and result.chosen.instances == 4
    assert result.stats.states < 1000


@needs_corpus
@pytest.mark.slow
@pytest.mark.parametrize("criterion", COUNTS_OF)
@pytest.mark.parametrize("row", rows_of_table_1(slow=True), ids=lambda row: Path(row["file"]).name)
def test_no_more_fences_are_needed_than_table_1_says_on_large_programs(
    row: dict[str, str], criterion: Criterion
) -> None:
    check_minimum(row, criterion)


@needs_corpus
@pytest.mark.parametrize(
    ("file", "fences"),
    [
        ("mutex/spinlock/spinlock", 0), ("mutex/szymanski2/szymanski2", 3), ("mutex/lamport2/lamport2", 4),
        ("mutex/lamport3/lamport3", 6), ("mutex/ticket_spin_lock/ticket_spin_lock", 0),
        ("mutex/dclocking/dc_locking", 0),
        ("schedule/alternating_bit_protocol/alternating_bit", 0),
    ],
)  # fmt: skip
def test_safety_needs_at_most_as_many_fences_as_memorax_and_remmex_find(file: str, fences: int) -> None:
    result = fixed_and_needed(load(CORPUS / "persist" / "single" / f"{file}.rmm"), FixOptions())
    assert result.is_minimum
    assert result.chosen.instances == fences
    (row,) = (r for r in published("persistence-2015-table1") if r["file"] == f"single/{file}")
    for tool in ("memorax_fences", "remmex_fences"):
        assert not row[tool] or fences <= int(row[tool])
