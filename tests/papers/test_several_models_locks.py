"""Locks and lock-free structures as LLVM IR, with the verdicts that Dartagnan's authors store for them."""

from __future__ import annotations

import csv
from functools import cache

import pytest

from memfence.pipeline import load
from memfence.program.ir import NoDeadlock
from memfence.questions.models import check_models
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import Counterexample
from memfence.tasks.options import CheckOptions
from support.corpus import CORPUS, needs_corpus

FOLDER = CORPUS / "portable" / "ll"
MODELS = {"TSO": "x86", "ARM8": "armv8", "C11": "rc11"}
QUICK = ("ticketlock", "ticketlock-acq2rx", "ticketlock-rel2rx", "ttas-acq2rx", "ttas-rel2rx")
SECONDS = 60

pytestmark = needs_corpus


@cache
def rows() -> list[dict[str, str]]:
    if not FOLDER.exists():
        return []
    with (FOLDER / "expected.csv").open() as text:
        return [row for row in csv.DictReader(text) if row["model"] in MODELS]


def check_row(row: dict[str, str]) -> Verdict:
    """PASS is never violated, FAIL never holds; where nothing was found within their bound, neither do we find it.

    They ask about assertions only: a futex with relaxed accesses may lose a wake-up, and then a thread waits for ever.
    """
    (path,) = (found for found in FOLDER.rglob("*.ll") if found.stem == row["program"])
    name = MODELS[row["model"]]
    (answer,) = check_models(load(path), (name,), CheckOptions(timeout_seconds=SECONDS)).answers
    if row["verdict"] == "FAIL":
        assert answer.verdict in (Verdict.VIOLATED, Verdict.UNKNOWN), row
    elif answer.verdict is Verdict.VIOLATED:
        assert row["program"].endswith("2rx_futex"), row
        assert isinstance(answer.evidence, Counterexample)
        assert isinstance(answer.evidence.violated, NoDeadlock)
    return answer.verdict


@pytest.mark.parametrize("program", QUICK)
def test_ticket_and_test_and_set_locks(program: str) -> None:
    decided = [check_row(row) for row in rows() if row["program"] == program]
    assert decided and Verdict.UNKNOWN not in decided


@pytest.mark.slow
@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['program']}-{row['model']}")
def test_no_stored_verdict_is_contradicted(row: dict[str, str]) -> None:
    check_row(row)
