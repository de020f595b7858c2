"""The verdicts in `examples/any_number/verdicts.csv`, and that runs have as many threads as it says."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import memfence
from memfence.source import SourceText
from memfence.tasks.evidence import CounterexampleRun, Parameterised
from support.c_compiler import needs_clang

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "any_number"
ROWS = list(csv.DictReader((FOLDER / "verdicts.csv").read_text().splitlines()))
C_FOLDER = FOLDER / "c"
C_ROWS = list(csv.DictReader((C_FOLDER / "verdicts.csv").read_text().splitlines()))


def test_every_example_has_a_row():
    assert {row["program"] for row in C_ROWS} == {path.stem for path in C_FOLDER.glob("*.c")}
    assert {row["program"] for row in ROWS} == {
        str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.pml")
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(filter(None, (row["program"], row["define"]))))
def test_the_example_has_its_verdict_for_any_number_of_threads(row):
    check_verdicts(FOLDER / f"{row['program']}.pml", row)


@needs_clang
@pytest.mark.parametrize("row", C_ROWS, ids=lambda row: " ".join(filter(None, (row["program"], row["define"]))))
def test_the_example_in_c_has_its_verdict_for_any_number_of_threads(row):
    check_verdicts(C_FOLDER / f"{row['program']}.c", row, any_number=tuple(row["functions"].split()))


def check_verdicts(path: Path, row: dict[str, str], **keywords: object) -> None:
    macros = (row["define"],) if row["define"] else ()
    for model in ("sc", "tso"):
        result = memfence.check(path, model=model, macros=macros, timeout_seconds=120, **keywords)
        assert result.verdict == row[model]
        if isinstance(result.evidence, CounterexampleRun):
            assert " ".join(f"{name}:{count}" for name, count in result.evidence.threads) == row["threads"]
        else:
            assert isinstance(result.evidence, Parameterised)


@needs_clang
def test_a_fence_in_c_is_proved_for_any_number_of_threads():
    found = memfence.fix(C_FOLDER / "event_count.c", macros=("BROKEN",), any_number=("waiter",))
    assert (found.verdict, found.chosen.count, found.is_minimum) == ("fixed", 1, True)
    again = memfence.check(SourceText("event_count.c", found.patched), macros=("BROKEN",), any_number=("waiter",))
    assert isinstance(again.evidence, Parameterised)
