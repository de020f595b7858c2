"""The examples of objects: the right ones hold for all their clients, and each mistake that they know is found."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

import memfence
from memfence.clients.specification import client_text
from support.c_compiler import needs_clang

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "objects"
ROWS = list(csv.DictReader((FOLDER / "expected.csv").open()))
MODELS = ("sc", "tso", "rc11")
QUICK = {("spsc_ring.c", "RELAXED_TAIL"), ("ticket_lock.c", "NO_LOCK"), ("seqlock.c", "NO_FENCE")}
"""One each for a store that comes too early, an update that is lost, and a value that is torn."""

pytestmark = needs_clang


def name_of(row: dict[str, str]) -> str:
    return f"{row['file']}-{row['mistake'] or 'right'}"


def test_every_example_and_each_of_its_mistakes_is_in_the_table() -> None:
    named = {
        (path.name, mistake)
        for path in FOLDER.glob("*.c")
        for mistake in ("", *re.findall(r"#ifn?def (\w+)", path.read_text()))
    }
    assert {(row["file"], row["mistake"]) for row in ROWS} == named


@pytest.mark.parametrize(
    "row",
    [pytest.param(r, marks=() if (r["file"], r["mistake"]) in QUICK else (pytest.mark.slow,)) for r in ROWS],
    ids=name_of,
)
def test_an_object_has_the_verdict_of_the_table(row: dict[str, str]) -> None:
    macros = (row["mistake"],) if row["mistake"] else ()
    found = {model: memfence.test(FOLDER / row["file"], model, macros=macros) for model in MODELS}
    assert {model: found[model].verdict.value for model in MODELS} == {model: row[model] for model in MODELS}
    for result in found.values():
        (tested,) = result.objects
        if tested.failing is not None:
            client = tested.failing.client
            assert len(client.threads) <= 3, client_text(tested.specification, client)
            assert max(map(len, client.threads)) <= 3, client_text(tested.specification, client)
