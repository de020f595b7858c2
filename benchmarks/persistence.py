"""Table 1 of the persistence paper (2015), decided exactly: `python benchmarks/persistence.py [ROW ...]` prints it.

Needs the corpus beside the project. Every row runs in a process of its own, so that its memory is its own: persistence
by one complete SC exploration that collects every attack, robustness as `memfence check --criterion robust` decides
it. A verdict that differs from the paper's, or more states than the yardstick, ends the script with exit code 1.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from paper_tables.persistence import INT_BITS  # noqa: E402

from memfence.engines.native.attacks import AttackKind, explore_attacks  # noqa: E402
from memfence.passes.shared_memory_form import shared_memory_form  # noqa: E402
from memfence.pipeline import load  # noqa: E402
from memfence.program.load_options import LoadOptions  # noqa: E402
from memfence.questions import check  # noqa: E402
from memfence.tasks.limits import Limits, peak_megabytes  # noqa: E402
from memfence.tasks.options import CheckOptions  # noqa: E402
from support.corpus import CORPUS, published  # noqa: E402

PROGRAMS = CORPUS / "persist"
OTHERS_INT_BITS = 8
"""Where a program counts without bound: the width at which it is finite and still does what it is for; the yardstick's,
where it has the row."""
HARDEST = "peterson"
LIMITS = Limits(timeout_seconds=30, memory_megabytes=4_000, threads=2)
LIMITS_OF_HARDEST = Limits(timeout_seconds=1_800, memory_megabytes=12_000, threads=2)
"""Of wall-clock time, with room for other work on the machine; what is reported beside it is processor time."""


@dataclass(frozen=True, slots=True)
class Row:
    """A program, and what the paper and the yardstick say: fences that Persist and Trencher inserted, if any answer."""

    name: str
    file: str
    processes: int
    persist_fences: int
    trencher_fences: int | None
    yardstick_states: int | None

    @property
    def int_bits(self) -> int:
        return INT_BITS.get(self.name, OTHERS_INT_BITS)


@dataclass(frozen=True, slots=True)
class Measured:
    """What we found. `int_bits`: None where the program bounds all values itself. `complete`: whether every SC state
    was seen; a violation needs no more than its replayed run."""

    int_bits: int | None
    persistent: bool | None
    complete: bool
    states: int
    seconds: float
    cpu_seconds: float
    robust: str
    robust_seconds: float
    megabytes: float

    def faults(self, row: Row) -> list[str]:
        """What is not as it should be."""
        found = []
        if self.persistent != (row.persist_fences == 0):
            found.append("persistence differs from the paper")
        if row.trencher_fences is not None and self.robust != ("holds" if row.trencher_fences == 0 else "violated"):
            found.append("robustness differs from the paper")
        if row.yardstick_states is not None and self.states > row.yardstick_states:
            found.append("more states than the yardstick")
        return found


def rows() -> list[Row]:
    """The rows of the table in the paper's order."""
    yardstick = {r["program"]: int(r["states"]) for r in published("yardstick-persistence")}
    return [
        Row(
            name := r["file"].rsplit("/", 1)[1],
            r["file"],
            int(r["processes"]),
            int(r["persist_fences"]),
            int(r["trencher_fences"]) if r["trencher_fences"] else None,
            yardstick.get(name),
        )
        for r in published("persistence-2015-table1")
    ]


def measure(row: Row) -> Measured:
    """Decide both criteria of one row; the run behind a violation of persistence is replayed."""
    limits = LIMITS_OF_HARDEST if row.name == HARDEST else LIMITS
    program = shared_memory_form(load(PROGRAMS / f"{row.file}.txt", LoadOptions(int_bits=row.int_bits)))
    began = time.process_time()
    every = explore_attacks(program, AttackKind.PERSISTENCE, collect=True, limits=limits)
    cpu_seconds = time.process_time() - began
    decided = every if every.complete else explore_attacks(program, AttackKind.PERSISTENCE, limits=limits)
    if decided.attacks:
        decided.trace(decided.attacks[0])
    megabytes = peak_megabytes()
    options = CheckOptions(criterion="robust", timeout_seconds=limits.timeout_seconds, threads=1)
    robust = check(program, options)
    return Measured(
        int_bits=row.int_bits if any("--int-bits" in note for note in program.notes) else None,
        persistent=False if decided.attacks else True if decided.complete else None,
        complete=every.complete,
        states=every.cost.states,
        seconds=every.cost.seconds,
        cpu_seconds=cpu_seconds,
        robust=robust.verdict.value,
        robust_seconds=robust.stats.seconds,
        megabytes=megabytes,
    )


def main(wanted: list[str]) -> int:
    """Print the table, a line as soon as it is known; 1 if some row is not as it should be."""
    faulty = False
    sys.stdout.write(
        "| program | processes | bits | persistent | Persist | robust | Trencher | states | yardstick | time | CPU |"
        " memory | states/CPU s |\n|---|--:|--:|---|--:|---|--:|--:|--:|--:|--:|--:|--:|\n"
    )
    for row in rows():
        if wanted and row.name not in wanted:
            continue
        done = subprocess.run([sys.executable, __file__, "--row", row.name], capture_output=True, text=True, check=True)
        measured = Measured(**json.loads(done.stdout))
        sys.stdout.write(f"| {' | '.join(_cells(row, measured))} |\n")
        sys.stdout.flush()
        for fault in measured.faults(row):
            faulty = True
            sys.stderr.write(f"{row.name}: {fault}\n")
    return int(faulty)


def _cells(row: Row, measured: Measured) -> list[str]:
    persistent = {True: "yes", False: "no", None: "?"}[measured.persistent]
    robust = {"holds": "yes", "violated": "no"}.get(measured.robust, "?")
    return [
        row.name,
        str(row.processes),
        "-" if measured.int_bits is None else str(measured.int_bits),
        persistent,
        str(row.persist_fences),
        f"{robust} ({measured.robust_seconds:.2f} s)",
        "-" if row.trencher_fences is None else str(row.trencher_fences),
        f"{'' if measured.complete else '> '}{measured.states:,}",
        "-" if row.yardstick_states is None else f"{row.yardstick_states:,}",
        f"{measured.seconds:.2f} s",
        f"{measured.cpu_seconds:.2f} s",
        f"{measured.megabytes:,.0f} MB",
        f"{measured.states / max(measured.cpu_seconds, 1e-6):,.0f}",
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--row"]:
        (only,) = (row for row in rows() if row.name == sys.argv[2])
        sys.stdout.write(json.dumps(asdict(measure(only))))
    else:
        sys.exit(main(sys.argv[1:]))
