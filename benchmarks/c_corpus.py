"""Verdicts about the corpus of C programs: one row per file, compared with what its authors expect.

`python benchmarks/c_corpus.py [--suite NAME] [--match TEXT] [--timeout SECONDS] [--jobs N] [--csv OUT]`
Each file runs in a process of its own, so that neither a crash nor a hang ends the table.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus" / "c"
NEEDS_N = ("CoA", "SharedPtr", "/cas/", "commits", "eratosthenes", "/inc/", "lock2inc", "wainc", "mcs_spinlock")


def options_of(row: dict[str, str]) -> dict[str, object]:
    """How the suite means its files to be read."""
    file = row["file"]
    found: dict[str, object] = {"forced_include": ["stdint.h", "stdio.h"]}
    if row["suite"] == "genmc":
        folder = (CORPUS / file).parent
        found["macros"] = ["N=2"] if any(part in file for part in NEEDS_N) else []
        found["include"] = [str(folder.parent)]
        found["deadlock"] = False
        found["overflow"] = False
    if row["suite"] == "svcomp":
        found["deadlock"] = False
        found["overflow"] = False
    return found


def models_of(row: dict[str, str]) -> list[str]:
    return {"genmc": ["tso"], "svcomp": ["sc"], "dat3m": ["sc", "tso"]}[row["suite"]]


def run_one(row: dict[str, str], timeout: float) -> dict[str, str]:
    """The verdict about one file, or why there is none."""
    results = []
    for model in models_of(row):
        task = {"file": str(CORPUS / row["file"]), "model": model, "timeout": timeout, "options": options_of(row)}
        start = time.monotonic()
        try:
            done = subprocess.run(
                [sys.executable, __file__, "--child", json.dumps(task)],
                capture_output=True, text=True, timeout=timeout + 30,
            )  # fmt: skip
            lines = done.stdout.strip().splitlines()
            answer = json.loads(lines[-1]) if done.returncode == 0 and lines else {
                "verdict": "crash", "reason": (done.stderr.strip().splitlines() or ["?"])[-1]
            }  # fmt: skip
        except subprocess.TimeoutExpired:
            answer = {"verdict": "hang", "reason": "killed"}
        answer["seconds"] = f"{time.monotonic() - start:.1f}"
        answer["model"] = model
        answer["expected"] = row.get(model) or (row["sc"] if row["sc"] == "violated" else "")
        results.append({"file": row["file"], **answer})
    return results  # type: ignore[return-value]


def child(task: dict[str, object]) -> None:
    from memfence.diagnostics import InputError
    from memfence.frontends.c.load import load
    from memfence.passes.intervals import bound_values
    from memfence.passes.lock_regions import fuse_lock_regions
    from memfence.program.load_options import COptions
    from memfence.program.validate import validate
    from memfence.questions import check
    from memfence.tasks.options import CheckOptions

    given = {k: tuple(v) if isinstance(v, list) else v for k, v in task["options"].items()}  # type: ignore[attr-defined]
    begin, started = time.process_time(), time.monotonic()
    try:
        program = load([str(task["file"])], COptions(**given))
        program = bound_values(fuse_lock_regions(program))
        validate(program)
    except InputError as error:
        print(json.dumps({"verdict": "refused", "reason": error.diagnostics[0].message}))
        return
    loaded = time.process_time() - begin
    left = max(1.0, float(task["timeout"]) - (time.monotonic() - started))  # type: ignore[arg-type]
    options = CheckOptions(model=task["model"], criterion="safety", timeout_seconds=left)  # type: ignore[arg-type]
    result = check(program, options)
    from memfence.report.words.properties import property_line
    from memfence.report.words.sentences import limit_text, scope_text

    reason = limit_text(result) or scope_text(result)
    if result.trace is not None:
        reason = f"{property_line(result)}: {_place(program, result.trace.steps[-1].step)}"
    steps = sum(len(p.transitions) for p in program.processes)
    notes = "; ".join(program.notes)
    verdict = result.verdict.value
    print(json.dumps({
        "verdict": verdict, "reason": reason, "notes": notes, "load": f"{loaded:.2f}",
        "transitions": steps, "states": result.stats.states,
    }))  # fmt: skip


def _place(program: object, step: object) -> str:
    run = getattr(step, "process", None)
    if run is None:
        return str(step)
    return program.processes[step.process].transitions[step.transition].span.place  # type: ignore[attr-defined]


def judged(row: dict[str, str]) -> str:
    """ok, contradiction, or undecided."""
    verdict, expected = row["verdict"], row["expected"]
    if verdict not in ("holds", "holds_up_to", "violated"):
        return "undecided"
    if not expected:
        return "ok"
    if (verdict == "violated") == (expected == "violated"):
        return "ok"
    return "missed" if verdict == "holds_up_to" else "CONTRADICTION"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--suite")
    parser.add_argument("--kind")
    parser.add_argument("--match", default="")
    parser.add_argument("--timeout", type=float, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--csv")
    parser.add_argument("--child")
    given = parser.parse_args()
    if given.child:
        child(json.loads(given.child))
        return
    rows = [
        row
        for row in csv.DictReader((CORPUS / "expected.csv").open())
        if given.match in row["file"] and given.suite in (None, row["suite"]) and given.kind in (None, row["kind"])
    ]
    with ThreadPoolExecutor(given.jobs) as pool:
        found = [answer for answers in pool.map(lambda r: run_one(r, given.timeout), rows) for answer in answers]
    for row in found:
        row["judged"] = judged(row)
        print(
            row["judged"],
            row["verdict"],
            row["model"],
            row["seconds"],
            row["file"],
            "|",
            row.get("reason", "")[:150],
            "|",
            row.get("notes", ""),
        )
    groups = Counter((r["file"].split("/")[0], r["file"].split("/")[1], r["model"], r["judged"]) for r in found)
    for group, count in sorted(groups.items()):
        print(*group, count)
    if given.csv:
        with Path(given.csv).open("w", newline="") as out:
            fields = [
                "file",
                "model",
                "expected",
                "verdict",
                "judged",
                "seconds",
                "load",
                "transitions",
                "states",
                "reason",
                "notes",
            ]
            writer = csv.DictWriter(out, fields, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)


if __name__ == "__main__":
    main()
