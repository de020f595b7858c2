"""GenMC's own tests under sc, tso and rc11, by `memfence check` as users call it: one row per file and model.

    python benchmarks/genmc.py [--folder DIR] [--models rc11,tso] [--match TEXT] [--timeout SECONDS] [--csv OUT]

`correct`: GenMC finds no error under RC11, so there is none under SC and TSO either. `wrong`: it finds one under RC11.
Where a program of `correct` is VIOLATED because more is asked than GenMC was asked, the row is in `OTHERWISE`, with a
model that asks as GenMC does; the file is asked again by that.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT.parent / "shared" / "corpus" / "c" / "genmc"
TEXTS = ROOT / "tests" / "papers" / "models"
MODELS = ("sc", "tso", "rc11")
NEEDS_N = ("CoA", "SharedPtr", "/cas/", "commits", "eratosthenes", "/inc/", "lock2inc", "wainc", "mcs_spinlock")
OLDER_RULE, NO_RACES = "rc11-before-cpp20.cat", "rc11-without-races.cat"
OTHERWISE = {
    "correct/data-structures/chase-lev/": NO_RACES,
    "correct/data-structures/dq/": NO_RACES,
    "correct/data-structures/qu-opt/": NO_RACES,
    "correct/litmus/MP+rels+acqf/": OLDER_RULE,
    "correct/litmus/MPU2+rels+acq/": OLDER_RULE,
}
"""Rows of `correct` that rc11 calls VIOLATED: plain accesses race, and GenMC is called with `-disable-race-detection`;
or a release sequence is continued by a later store of the same thread, which C++20 has dropped."""
UNDEFINED = {"correct/data-structures/treiber-stack/": "gcc -fsanitize=undefined"}
"""Rows of `correct` with arithmetic that C leaves undefined, and who says so, too: GenMC does not ask for it."""
DECIDED = ("holds", "holds_up_to")


def asked_otherwise(file: str, model: str) -> str | None:
    """The text that asks about the file as GenMC does, where that is not what the model asks."""
    found = (text for start, text in OTHERWISE.items() if file.startswith(start))
    return next(found, None) if model == "rc11" else None


def undefined_by(file: str, why: str) -> str | None:
    """Who else says that the arithmetic of the file is undefined, where this is why it is VIOLATED."""
    found = (witness for start, witness in UNDEFINED.items() if file.startswith(start) and why.startswith("shift "))
    return next(found, None)


def files(folder: Path) -> list[str]:
    """The programs, by their names in the folder."""
    found = [*folder.glob("correct/**/variants/*.c"), *folder.glob("wrong/**/variants/*.c")]
    return sorted(str(path.relative_to(folder)) for path in found)


def arguments(file: str) -> list[str]:
    """What the file needs to be read."""
    macros = ["-D", "N=2"] if any(part in file for part in NEEDS_N) else []
    return ["-I", str(Path(file).parent.parent), *macros]


def verdict(folder: Path, file: str, model: str, timeout: float) -> tuple[str, str]:
    """What the command says, and why."""
    command = [sys.executable, "-m", "memfence", "check", file, "--model", model, *arguments(file)]
    try:
        done = subprocess.run(
            [*command, "--timeout", str(timeout), "--json"],
            cwd=folder, capture_output=True, text=True, timeout=2 * timeout + 60, check=False,
        )  # fmt: skip
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return "hang", ""
    except ValueError:
        return "crash", (done.stderr.strip().splitlines() or ["?"])[-1]
    if "verdict" not in answer:
        return "refused", answer.get("error", "")
    found = (answer.get("models") or [answer])[0]
    return answer["verdict"], found.get("reason") or found.get("finding") or ""


def judged(file: str, model: str, found: str) -> str:
    """Whether a verdict contradicts GenMC: nothing follows for SC and TSO from an error under RC11."""
    if found not in (*DECIDED, "violated"):
        return "not decided"
    if file.startswith("correct"):
        return "CONTRADICTS" if found == "violated" else "agrees"
    return "CONTRADICTS" if model == "rc11" and found == "holds" else "agrees"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--match", default="")
    parser.add_argument("--timeout", type=float, default=20)
    parser.add_argument("--csv", type=Path)
    given = parser.parse_args()
    rows = []
    for file in (file for file in files(given.folder) if given.match in file):
        for model in given.models.split(","):
            rows.append(_row(given.folder, file, model, given.timeout))
            print(*rows[-1].values(), sep="\t", flush=True)
            if given.csv:
                _write(given.csv, rows)
    counts = Counter((row["file"].split("/")[0], row["model"], row["verdict"], row["judged"]) for row in rows)
    for group, count in sorted(counts.items()):
        print(*group, count)


def _row(folder: Path, file: str, model: str, timeout: float) -> dict[str, str]:
    start = time.monotonic()
    found, why = verdict(folder, file, model, timeout)
    row = {"file": file, "model": model, "verdict": found, "judged": judged(file, model, found), "otherwise": ""}
    text = asked_otherwise(file, model)
    if text is not None:
        row["otherwise"], _ = verdict(folder, file, str(TEXTS / text), timeout)
        explained = row["judged"] == "CONTRADICTS" and row["otherwise"] in DECIDED
        row["judged"] = f"agrees by {text}" if explained else row["judged"]
    if row["judged"] == "CONTRADICTS" and (witness := undefined_by(file, why)) is not None:
        row["judged"] = f"agrees with {witness}"
    return row | {"seconds": f"{time.monotonic() - start:.1f}", "why": why.replace("\n", " ")}


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
