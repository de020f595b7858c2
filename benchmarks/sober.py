"""The table of Sober's experiments (2008, Fig. 4) on our own models: `python benchmarks/sober.py` prints it.

The numbers of interleavings are asserted, so a faster wrong answer is not a speed-up. The models are not the paper's C#
programs, and scheduling points are accesses only: the shape of the table can be compared, the numbers cannot.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from memfence.engines.native.stateless import Counts, explore
from memfence.pipeline import load

MODELS = Path(__file__).resolve().parents[1] / "examples" / "sober"
REPETITIONS = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One model with at most `preemptions` of them (None: no bound, one execution of each class)."""

    model: str
    preemptions: int | None
    interleavings: int
    borderline: int


ROWS = (
    Row("fig1b", None, 3, 2),
    Row("fig1b", 2, 6, 2),
    Row("dekker", 1, 24, 22),
    Row("dekker", 2, 179, 168),
    Row("dekker", 3, 1_104, 1_058),
    Row("dekker", 4, 5_279, 5_113),
    Row("dekker", 5, 20_330, 19_774),
    Row("dekker", None, 803, 775),
    Row("bakery", 0, 2, 2),
    Row("bakery", 1, 54, 48),
    Row("bakery", 2, 860, 748),
    Row("bakery", 3, 8_539, 7_413),
    Row("bakery", None, 5_289, 5_099),
    Row("takequeue", 0, 2, 2),
    Row("takequeue", 1, 20, 18),
    Row("takequeue", 2, 176, 161),
    Row("takequeue", 3, 793, 712),
    Row("takequeue", 4, 3_078, 2_778),
    Row("takequeue", 5, 8_365, 7_481),
    Row("takequeue", None, 86, 70),
    Row("dekker_fenced", 5, 20_330, 0),
    Row("bakery_fenced", 3, 8_539, 0),
    Row("takequeue_fenced", 5, 8_365, 0),
)


def timed(row: Row, *, monitor: bool) -> tuple[Counts, float]:
    """The exploration, and the least processor time it took: other work on the machine does not count."""
    program = load(MODELS / f"{row.model}.pml")
    best, counts = float("inf"), None
    for _ in range(REPETITIONS):
        began = time.thread_time()
        explored = explore(program, preemptions=row.preemptions, depth=1_000, monitor=monitor)
        best = min(best, time.thread_time() - began)
        counts = explored.counts
    assert counts is not None
    return counts, best


def main() -> None:
    sys.stdout.write("| model | preemptions | interleavings | borderline | first [s] | monitored [s] | alone [s] |\n")
    sys.stdout.write("|---|---:|---:|---:|---:|---:|---:|\n")
    for row in ROWS:
        counts, seconds = timed(row, monitor=True)
        _, alone = timed(row, monitor=False)
        assert (counts.interleavings, counts.borderline) == (row.interleavings, row.borderline), (row, counts)
        first = "-" if counts.first_borderline_seconds is None else f"{counts.first_borderline_seconds:.4f}"
        bound = "any" if row.preemptions is None else str(row.preemptions)
        cells = (row.model, bound, f"{counts.interleavings:,}", f"{counts.borderline:,}", first)
        sys.stdout.write(f"| {' | '.join(cells)} | {seconds:.4f} | {alone:.4f} |\n")


if __name__ == "__main__":
    main()
