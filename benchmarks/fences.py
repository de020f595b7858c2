"""Fences for Table 1 of the persistence paper: how few, how long, beside the counts of Persist and Trencher.

Every row runs the commands that a user would: `check`, `fix`, and `check` on what `fix` wrote. Processor time counts,
start-up of the command included. A count above the paper's, or one that is not a proven minimum, fails the run.

    python benchmarks/fences.py [--timeout S] [PROGRAM ...]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from paper_tables.persistence import INT_BITS

from support.corpus import CORPUS, published

MEMORY_MEGABYTES = 14_000
COLUMNS = (
    "program", "processes", "SC states seen", "check", "fix", "check the fixed", "ours", "Persist", "robust: fix",
    "ours", "Trencher",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fixed:
    """One `fix`: fence instructions over all processes; None where it was not decided."""

    count: int | None
    states: int
    cpu: float


@dataclass(frozen=True, slots=True)
class Row:
    """`check`: of the program as it is, which ends at the first violation. `proof`: of what `fix` wrote, if it ends."""

    name: str
    persistent: Fixed
    check: float
    proof: float | None
    robust: Fixed


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--timeout", type=float, default=60)
    options = parser.parse_args()
    table = published("persistence-2015-table1")
    if not table:
        sys.exit("skipped: corpus not found at ../shared/corpus")
    print("| " + " | ".join(COLUMNS) + " |")
    print("|---" * len(COLUMNS) + "|")
    rows = []
    for entry in table:
        name = Path(entry["file"]).name
        if options.programs and name not in options.programs:
            continue
        row = measure(CORPUS / "persist" / f"{entry['file']}.txt", options.timeout)
        rows.append(row)
        print(line(row, entry), flush=True)
        require(row, entry)
    summarise(rows)


def summarise(rows: Sequence[Row]) -> None:
    decided = [row for row in rows if row.persistent.count is not None]
    robust = sum(row.robust.count is not None for row in rows)
    to_proof = mean([row.persistent.cpu / row.proof for row in decided if row.proof is not None])
    to_check = mean([row.persistent.cpu / row.check for row in decided])
    print(f"\ntime of fix to check of the fixed text, geometric mean: {to_proof}")
    print(f"time of fix to check of the text as it is, geometric mean: {to_check}")
    print(f"decided: {len(decided)} of {len(rows)} for persistence, {robust} for robustness")


def measure(path: Path, timeout: float) -> Row:
    name = path.stem
    common = ["--timeout", f"{timeout:g}", "--memory", str(MEMORY_MEGABYTES)]
    if name in INT_BITS:
        common += ["--int-bits", str(INT_BITS[name])]
    with TemporaryDirectory() as folder:
        fixed = Path(folder, path.name)
        persistent = fix(path, "persistent", [*common, "-o", str(fixed)])
        check = run("check", path, "persistent", common)[1]
        written = fixed if fixed.is_file() else path
        proof, seconds = run("check", written, "persistent", common)
        assert persistent.count is None or proof["verdict"] in ("holds", "unknown"), name
        robust = fix(path, "robust", common)
    return Row(name, persistent, check, seconds if proof["verdict"] == "holds" else None, robust)


def fix(path: Path, criterion: str, options: Sequence[str]) -> Fixed:
    found, seconds = run("fix", path, criterion, ["--minimise", "count", *options])
    if found["verdict"] not in ("fixed", "already_holds"):
        return Fixed(None, found["stats"]["states"], seconds)
    assert found["minimum"], path
    return Fixed(found["instances"], found["stats"]["states"], seconds)


def run(verb: str, path: Path, criterion: str, options: Sequence[str]) -> tuple[dict[str, Any], float]:
    """The JSON that the command prints, and the processor time it took."""
    before = getrusage(RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "memfence", verb, str(path), "--criterion", criterion, "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = getrusage(RUSAGE_CHILDREN)
    assert done.stdout, done.stderr
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def line(row: Row, entry: dict[str, str]) -> str:
    bits = f" ({INT_BITS[row.name]} bits)" if row.name in INT_BITS else ""
    cells = [
        f"{row.name}{bits}", entry["processes"], f"{row.persistent.states:,}",
        f"{row.check:.2f}", f"{row.persistent.cpu:.2f}", "-" if row.proof is None else f"{row.proof:.2f}",
        shown(row.persistent), entry["persist_fences"],
        f"{row.robust.cpu:.2f}", shown(row.robust), entry["trencher_fences"] or "time-out",
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def shown(fixed: Fixed) -> str:
    return "not decided" if fixed.count is None else str(fixed.count)


def require(row: Row, entry: dict[str, str]) -> None:
    for fixed, paper in ((row.persistent, entry["persist_fences"]), (row.robust, entry["trencher_fences"])):
        if fixed.count is not None and paper and fixed.count > int(paper):
            sys.exit(f"{row.name}: {fixed.count} fences, the paper has {paper}")


def mean(ratios: Sequence[float]) -> str:
    return f"{exp(sum(map(log, ratios)) / len(ratios)):.2f} (of {len(ratios)})" if ratios else "-"


if __name__ == "__main__":
    main()
