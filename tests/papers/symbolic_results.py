"""Measure the symbolic engine on the tables of Linden and Wolper and on the corpus.

`PYTHONPATH=tests python -m papers.symbolic_results [SECONDS]` prints the tables of docs/results/symbolic.md. Times are
CPU seconds; the limit is wall-clock.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

from memfence.engines.native.symbolic import SymbolicResult, explore_symbolic
from memfence.pipeline import load
from memfence.questions.safety import check_safety, goal_of
from memfence.tasks.limits import Limits
from memfence.tasks.options import CheckOptions
from papers.test_linden_wolper_tables import REDUCTIONS, TABLE_2010, TABLE_2013, check
from support.corpus import CORPUS, corpus_files, published
from support.models import spec


def verdict(result: SymbolicResult) -> str:
    return "violated" if result.found else "holds" if result.complete else "unknown"


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    head = list(head)
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def timed(search):  # type: ignore[no-untyped-def]
    start = time.process_time()
    result = search()
    return result, f"{time.process_time() - start:.2f}"


def linden_wolper() -> None:
    rows = published("linden-wolper-2010-table2")
    print("### 2010, Table 2 (TSO)\n")
    results = [(r, *timed(lambda r=r: check(TABLE_2010[r["program"], r["variant"]], spec("tso")))) for r in rows]
    table(
        ("program", "variant", "errors there", "here", "states there", "here", "s there", "here"),
        (
            (
                r["program"],
                r["variant"],
                r["errors"],
                verdict(x),
                r["states_stored"],
                x.statistics.stored,
                r["seconds"],
                s,
            )
            for r, x, s in results
        ),
    )
    rows = published("linden-wolper-2013-table1")
    print("\n### 2013, Table 1 (PSO, fenced programs)\n")
    results = [(r, *timed(lambda r=r: check(TABLE_2013[r["program"]], spec("pso")))) for r in rows]
    table(
        ("program", "here", "states there", "here", "s there (all iterations)", "here"),
        ((r["program"], verdict(x), r["states"], x.statistics.stored, r["seconds"], s) for r, x, s in results),
    )


def peers() -> dict[str, tuple[str, str]]:
    return {Path(r["file"]).name: (r["memorax_s"], r["remmex_s"]) for r in published("persistence-2015-table1")}


def corpus(limit_seconds: float) -> None:
    known = peers()
    print(f"\n### Corpus, TSO, {limit_seconds:g} s each\n")
    rows = []
    for path in corpus_files("**/*.rmm"):
        program = load(path)
        question = goal_of(program, program.properties)
        if question.bad is None and not program.has_assertions:
            continue
        limits = Limits(timeout_seconds=limit_seconds, memory_megabytes=3000)
        result, seconds = timed(
            lambda p=program, q=question, li=limits: explore_symbolic(
                p, spec("tso"), q, limits=li, reductions=REDUCTIONS
            )
        )
        options = CheckOptions(timeout_seconds=limit_seconds, memory_megabytes=3000, threads=1)
        whole, whole_seconds = timed(lambda p=program, o=options: check_safety(p, o))
        name, s = path.relative_to(CORPUS), result.statistics
        mine = (name, verdict(result), s.stored, s.accelerations, seconds)
        auto = (whole.verdict.value.replace("_", " "), whole.engine, whole_seconds)
        rows.append((*mine, *auto, *(known.get(path.stem, ("", "")) if name.parts[0] == "persist" else ("", ""))))
        print(rows[-1], file=sys.stderr, flush=True)
    head = ("file", "symbolic", "states", "accelerations", "s", "auto", "by", "s", "Memorax s", "Remmex s")
    table(head, rows)
    print(f"\nConclusive: symbolic alone {sum(r[1] != 'unknown' for r in rows)} of {len(rows)}, ", end="")
    print(f"auto {sum(r[5] in ('holds', 'violated') for r in rows)} of {len(rows)}.")


if __name__ == "__main__":
    linden_wolper()
    corpus(float(sys.argv[1]) if len(sys.argv) > 1 else 60)
