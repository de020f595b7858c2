"""The verdicts in `examples/any_number/verdicts.csv`, and that runs have as many threads as it says."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import memfence
from memfence.tasks.evidence import AnyNumber, Run

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "any_number"
ROWS = list(csv.DictReader((FOLDER / "verdicts.csv").read_text().splitlines()))


def test_every_example_has_a_row():
    assert {row["program"] for row in ROWS} == {
        str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.pml")
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(filter(None, (row["program"], row["define"]))))
def test_the_example_has_its_verdict_for_any_number_of_threads(row):
    macros = (row["define"],) if row["define"] else ()
    for model in ("sc", "tso"):
        result = memfence.check(FOLDER / f"{row['program']}.pml", model=model, macros=macros, timeout_seconds=120)
        assert result.verdict == row[model]
        if isinstance(result.evidence, Run):
            assert " ".join(f"{name}:{count}" for name, count in result.evidence.threads) == row["threads"]
        else:
            assert isinstance(result.evidence, AnyNumber)
