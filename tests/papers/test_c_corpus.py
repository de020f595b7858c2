"""C programs of GenMC, SV-COMP and Dat3M: no verdict contradicts what their authors expect. The whole table is
`benchmarks/c_corpus.py`; here are the files that are decided quickly."""

from __future__ import annotations

import csv

import pytest

from memfence import pipeline
from memfence.frontends.c.load import load
from memfence.passes.intervals import bound_values
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.load_options import COptions
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang
from support.corpus import CORPUS, needs_corpus

pytestmark = [needs_clang, needs_corpus]

FOLDER = CORPUS / "c"
TABLE = FOLDER / "expected.csv"
QUICK = (
    "genmc/correct/litmus/",
    "genmc/correct/saver/spin-cas",
    "dat3m/locks/t",
    "dat3m/locks/mutex.c",
    "dat3m/locks/spinlock.c",
    "dat3m/locks/clh_mutex.c",
    "svcomp/pthread-atomic/",
    "svcomp/pthread/triangular",
)
ROWS = [row for row in csv.DictReader(TABLE.open()) if row["file"].startswith(QUICK)] if TABLE.exists() else []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["file"])
def test_no_verdict_contradicts_the_authors(row: dict[str, str]) -> None:
    path = FOLDER / row["file"]
    options = COptions(
        forced_include=("stdint.h", "stdio.h"), include=(str(path.parent.parent),), deadlock=False, overflow=False
    )
    program = bound_values(fuse_lock_regions(load([path], options)))
    model = "sc" if row["suite"] == "svcomp" else "tso"
    result = check(program, CheckOptions(model=model, criterion="safety", timeout_seconds=60))  # type: ignore[arg-type]
    expected = row[model] or row["sc"]
    wanted = Verdict.VIOLATED if expected == "violated" else Verdict.HOLDS
    assert result.verdict is wanted


def test_a_public_queue_keeps_its_promise() -> None:
    header = FOLDER / "queues" / "SPSCQueue" / "include" / "rigtorp" / "SPSCQueue.h"
    client = f"""
#include "{header}"
#include <cassert>
#include <thread>
int main() {{
    rigtorp::SPSCQueue<int> queue(1);
    std::thread producer([&] {{ for (int i = 1; i <= 2; i++) queue.push(i); }});
    for (int i = 1; i <= 2; i++) {{
        while (!queue.front()) ;
        assert(*queue.front() == i);
        queue.pop();
    }}
    producer.join();
}}"""
    program = pipeline.load_text(SourceText("client.cpp", client))
    verdict = check(program, CheckOptions(model="tso", criterion="safety")).verdict
    assert verdict in (Verdict.HOLDS, Verdict.HOLDS_UP_TO)
