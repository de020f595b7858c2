"""The table of Barnat, Brim and Havel: how many writes must be atomic. Run as a program it prints ours as a table.

The paper's own models are not published. Counting every assignment, the writes of its Lamport are those of BEEM's
`lamport.1`; its Anderson is near `anderson.2` and `anderson.4`; its Peterson is none of BEEM's, so it is our own.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("tests/papers", "tests", "benchmarks")]

from paper_tables.atomic_writes import ANDERSON, LAMPORT, PETERSON  # noqa: E402

from memfence.passes.atomic_writes import WaitsFor, writes_of  # noqa: E402
from memfence.pipeline import load  # noqa: E402
from memfence.program.ir import Assign, Load, Ltl, Program, Store  # noqa: E402
from memfence.synthesis.atomic_writes import AtomicFix, fix_ltl  # noqa: E402
from memfence.synthesis.options import FixOptions, Minimise  # noqa: E402
from support.corpus import CORPUS  # noqa: E402

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "dve"


@dataclass(frozen=True, slots=True)
class Row:
    """A model beside the line of the paper's table that it stands for."""

    model: str
    path: Path
    formula: str
    paper_writes: int
    paper_atomic: int

    def load(self) -> Program:
        return load(self.path)

    def fix(self, minimise: Minimise = "count", waits_for: WaitsFor = "own") -> AtomicFix:
        options = FixOptions(model="tso", ltl=Ltl("ltl", self.formula), minimise=minimise)
        return fix_ltl(self.load(), options, waits_for=waits_for)


ROWS = (
    Row("Anderson", CORPUS / "beem" / "anderson" / "anderson.2.dve", ANDERSON, 30, 24),
    Row("Anderson", CORPUS / "beem" / "anderson" / "anderson.4.dve", ANDERSON, 30, 24),
    Row("Lamport", CORPUS / "beem" / "lamport" / "lamport.1.dve", LAMPORT, 27, 16),
    Row("Peterson", EXAMPLES / "peterson.dve", PETERSON, 8, 4),
)


def assignments(program: Program) -> int:
    """Every assignment of the text, to shared and to local variables."""
    count = 0
    for process in program.processes:
        kept = [not register.transient for register in process.registers]
        for transition in process.transitions:
            count += sum(isinstance(op, Store) for op in transition.ops)
            count += sum(isinstance(op, Assign | Load) and kept[op.register] for op in transition.ops)
    return count


def main() -> None:
    print("| model | file | assignments | shared writes | atomic | first, as the paper | waiting for all | paper |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for row in ROWS:
        if not row.path.exists():
            continue
        program = row.load()
        least, first, every = row.fix(), row.fix("first"), row.fix(waits_for="all")
        found = f"{first.found_first}, then {len(first.chosen)}"
        print(
            f"| {row.model} | `{row.path.name}` | {assignments(program)} | {len(writes_of(program))} "
            f"| {len(least.chosen)} | {found} | {len(every.chosen)} | {row.paper_atomic} of {row.paper_writes} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
