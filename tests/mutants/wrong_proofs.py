"""Which planted bugs make memfence say a wrong HOLDS, and what becomes of the proof? A table, in Markdown.

    python tests/mutants/wrong_proofs.py [NAME ...]

Each bug is built in a copy of the tree, and asked the same questions about the same programs as the tree without it:
safety by each engine, criteria, temporal properties, any number of threads, and the fewest fences. Where the truth is
VIOLATED and the answer HOLDS, or the answer is a minimum that is none, `--verify` must refuse the proof, or there must
be none: the search that writes it has the same bug, the checkers have not. Exit code 1 if a proof of a wrong answer is
valid. The last column counts right answers whose proof gives the bug away. `MEMFENCE_QUESTIONS`: how many are asked.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]
PATCHES = Path(__file__).with_name("patches")
QUESTIONS = int(os.environ.get("MEMFENCE_QUESTIONS", "1500"))
CRITERIA = [("persistent", "tso"), ("robust", "tso"), ("robust", "pso"), ("trf", "tso"), ("drf", "tso"),
            ("state-robust", "tso"), ("state-robust", "pso")]  # fmt: skip
Answer = tuple[str, str]
"""The verdict, and what became of its proof: valid, refused, none."""


def safety(seed: int) -> Any:
    from memfence.api.certify import check_certified
    from support.generators.cyclic_programs import cyclic_program

    random = Random(seed)
    program = cyclic_program(seed, ordered=seed % 3 == 0)
    places = [random.randrange(len(process.locations)) for process in program.processes]
    bad = " && ".join(f"P{p}@#{at}" for p, at in enumerate(places)) + random.choice(
        ["", f" && x0 == {random.randrange(3)}"]
    )
    model, engine = random.choice(["tso", "tso", "pso"]), random.choice(["auto", "explicit", "symbolic", "dual"])
    bound = {"buffer_bound": random.choice([1, 2])} if engine == "explicit" and random.random() < 0.5 else {}
    return check_certified(
        program, None, verified=True, forbid=bad, model=model, engine=engine, timeout_seconds=10, **bound
    )


def criterion(seed: int) -> Any:
    from memfence.api.certify import check_certified
    from support.generators.cyclic_programs import cyclic_program
    from support.generators.racing_programs import racing_program

    name, model = CRITERIA[seed // 2 % len(CRITERIA)]
    program = racing_program(seed) if seed % 2 else cyclic_program(seed)
    return check_certified(program, None, verified=True, criterion=name, model=model, timeout_seconds=10)


def temporal(seed: int) -> Any:
    from memfence.api.certify import check_certified
    from support.generators.cyclic_programs import cyclic_program

    random = Random(seed)
    formula = random.choice(["<> (x0 == 1)", "[] <> (x0 == 0)", "[] (x0 < 2)", "(x0 == 1) -> <> (x0 == 2)"])
    return check_certified(
        cyclic_program(seed), None, verified=True, ltl=formula, fair=random.random() < 0.5,
        model=random.choice(["sc", "tso"]), buffer_bound=1, timeout_seconds=10,
    )  # fmt: skip


def any_number(seed: int) -> Any:
    from memfence.api.certify import check_certified
    from memfence.program.ir import Forbidden
    from support.generators.parameterised_programs import bad_state, parameterised_program

    program = parameterised_program(seed)
    bad = Forbidden(bad_state(program, Random(seed)), "drawn")
    return check_certified(program, None, verified=True, forbid=[bad], model="tso", timeout_seconds=10)


def answer_of(proof: Any) -> Answer:
    judged = proof.verified
    became = "none" if judged is None else "valid" if judged.is_valid else "refused"
    return proof.result.answer.verdict.value, became


def fences(seed: int) -> Answer:
    """How many fences are said to be a minimum, and whether the proof says so, too."""
    from dataclasses import replace

    from memfence.api.certify import check_certified
    from memfence.program.ir import FencePoint
    from memfence.source import NOWHERE
    from memfence.synthesis.apply_edits import with_edits
    from memfence.synthesis.options import FixOptions
    from memfence.synthesis.synthesise import fix_fences
    from memfence.tasks.criterion import Criterion
    from support.generators.racing_programs import racing_program

    name, model = [("persistent", "tso"), ("robust", "tso"), ("robust", "pso"), ("state-robust", "pso")][
        seed // len(KINDS) % 4
    ]
    program = racing_program(seed)
    processes = [
        replace(p, transitions=tuple(
            replace(t, point=FencePoint(p.name, f"{n:03d}", NOWHERE)) for n, t in enumerate(p.transitions)
        )) for p in program.processes
    ]  # fmt: skip
    program = replace(program, processes=tuple(processes))
    kinds = ("mfence", "sfence")  # a minimum is one of the edits that are allowed: not the same with locked writes
    fixed = fix_fences(program, FixOptions(model=model, criterion=Criterion(name), kinds=kinds, timeout_seconds=10))
    if fixed.bound is None or not fixed.is_minimum:
        return fixed.verdict.value, "none"
    fenced = with_edits(fixed.program, [fixed.bound.edits[n] for n in fixed.bound.chosen])
    proof = check_certified(
        fenced, None, verified=True, fixed=fixed, criterion=name, model=model, timeout_seconds=10
    )  # fmt: skip
    said, became = answer_of(proof)
    if said != "holds":
        return f"minimum {fixed.chosen.count}", "refused"
    return f"minimum {fixed.chosen.count}", "none" if proof.not_minimum is not None else became


KINDS: list[Callable[[int], Any]] = [safety, safety, criterion, safety, temporal, any_number, fences, criterion]


def ask() -> list[Answer]:
    """The worker: answers to all questions, in order."""
    answers = list[Answer]()
    for seed in range(QUESTIONS):
        try:
            found = KINDS[seed % len(KINDS)](seed)
        except Exception as fault:  # a witness that does not replay is a fault, not an answer
            answers.append((type(fault).__name__, "none"))
            continue
        answers.append(found if isinstance(found, tuple) else answer_of(found))
    return answers


def asked_in(tree: Path) -> list[Answer]:
    command = [sys.executable, str(tree / "tests" / "mutants" / "wrong_proofs.py"), "--worker"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": f"{tree}/src"}
    )
    return [(verdict, became) for verdict, became in json.loads(done.stdout)]


def is_wrong(right: str, said: str) -> bool:
    """HOLDS where the truth is VIOLATED, or a minimum that is none."""
    if said.startswith("minimum"):
        return right != said and right.startswith(("minimum", "impossible", "already"))
    return right == "violated" and said == "holds"


def row(name: str, truth: list[Answer], answers: list[Answer]) -> tuple[str, int]:
    """A line of the table, and how many proofs of wrong answers are valid."""
    pairs = list(enumerate(zip(truth, answers, strict=True)))
    wrong = Counter(became for _, ((right, _), (said, became)) in pairs if is_wrong(right, said))
    about = {KINDS[n % len(KINDS)].__name__ for n, ((right, _), (said, _)) in pairs if is_wrong(right, said)}
    cells = " | ".join(str(wrong[became]) for became in ("refused", "none", "valid"))
    noticed = sum(right == said and became == "refused" for _, ((right, _), (said, became)) in pairs)
    seen = ", ".join(sorted(about)) or "-"
    return f"| {name} | {wrong.total()} | {seen} | {cells} | {noticed} |", wrong["valid"]


def main(names: list[str]) -> int:
    from mutants.test_planted_bugs import build, copied

    chosen = [PATCHES / f"{name}.patch" for name in names] or sorted(PATCHES.glob("*.patch"))
    accepted = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder) / "tree")
        truth = asked_in(tree)
        print("| planted bug | wrong answers | about | refused | no proof | proof valid | right, but proof refused |")
        print("|---|---|---|---|---|---|---|", flush=True)
        for patch in chosen:
            if patch.name.startswith("certificate-"):
                continue
            subprocess.run(["patch", "-p1", "-s", "-i", str(patch)], cwd=tree, check=True)
            build(tree)
            line, valid = row(patch.stem, truth, asked_in(tree))
            print(line, flush=True)
            accepted += valid
            subprocess.run(["patch", "-p1", "-s", "-R", "-i", str(patch)], cwd=tree, check=True)
    return 1 if accepted else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        json.dump(ask(), sys.stdout)
    else:
        sys.exit(main(sys.argv[1:]))
