"""Which planted bugs make an engine say a wrong HOLDS, and what becomes of the proof? A table, in Markdown.

    python tests/mutants/wrong_proofs.py [NAME ...]

Each bug is built in a copy of the tree, and asked the same questions about the same programs as the tree without it.
Where the truth is VIOLATED and the answer HOLDS, `--verify` must refuse the proof, or there must be none: the search
that writes it has the same bug, the checkers have not. Exit code 1 if a proof of a wrong answer is valid.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]
PATCHES = Path(__file__).with_name("patches")
QUESTIONS = 1500
Answer = tuple[str, str]
"""The verdict, and what became of its proof: valid, refused, none."""


def ask() -> list[Answer]:
    """The worker: answers to all questions, in order."""
    from memfence.api.certify import check_certified
    from support.cyclic_programs import cyclic_program

    answers = list[Answer]()
    for seed in range(QUESTIONS):
        random = Random(seed)
        program = cyclic_program(seed, ordered=seed % 3 == 0)
        places = [random.randrange(len(process.locations)) for process in program.processes]
        bad = " && ".join(f"P{p}@#{at}" for p, at in enumerate(places)) + random.choice(
            ["", f" && x0 == {random.randrange(3)}"]
        )
        model, engine = random.choice(["tso", "tso", "pso"]), random.choice(["auto", "explicit", "symbolic", "dual"])
        asked = {"forbid": bad, "model": model, "engine": engine, "timeout_seconds": 10}
        try:
            proof = check_certified(program, None, verified=True, **asked)
        except Exception as fault:  # a witness that does not replay is a fault, not an answer
            answers.append((type(fault).__name__, "none"))
            continue
        judged = proof.verified
        became = "none" if judged is None else "valid" if judged.is_valid else "refused"
        answers.append((proof.result.answer.verdict.value, became))
    return answers


def asked_in(tree: Path) -> list[Answer]:
    command = [sys.executable, str(tree / "tests" / "mutants" / "wrong_proofs.py"), "--worker"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": f"{tree}/src"})
    return [(verdict, became) for verdict, became in json.loads(done.stdout)]


def row(name: str, truth: list[Answer], answers: list[Answer]) -> tuple[str, int]:
    """A line of the table, and how many proofs of wrong answers are valid."""
    wrong = Counter(
        became
        for (right, _), (verdict, became) in zip(truth, answers, strict=True)
        if right == "violated" and verdict == "holds"
    )
    cells = " | ".join(str(wrong[became]) for became in ("refused", "none", "valid"))
    return f"| {name} | {wrong.total()} | {cells} |", wrong["valid"]


def main(names: list[str]) -> int:
    from mutants.test_planted_bugs import build, copied

    chosen = [PATCHES / f"{name}.patch" for name in names] or sorted(PATCHES.glob("*.patch"))
    accepted = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder) / "tree")
        truth = asked_in(tree)
        print(
            "| planted bug | wrong HOLDS | proof refused | no proof | proof valid |\n|---|---|---|---|---|", flush=True
        )
        for patch in chosen:
            if patch.name.startswith("certificate-"):
                continue
            subprocess.run(["patch", "-p1", "-s", "-i", str(patch)], cwd=tree, check=True)
            build(tree)
            line, valid = row(patch.stem, truth, asked_in(tree))
            print(line, flush=True)
            accepted += valid
            subprocess.run(["patch", "-p1", "-s", "-R", "-i", str(patch)], cwd=tree, check=True)
            build(tree)
    return 1 if accepted else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        json.dump(ask(), sys.stdout)
    else:
        sys.exit(main(sys.argv[1:]))
