"""Random C programs: `check`, by states and by axioms, and `run` agree about each; weaker models only allow more."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

import memfence
from memfence.tasks.answer import Verdict
from support.c_compiler import needs_clang
from support.generators.random_c import random_c

pytestmark = [needs_clang, pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")]

WEAKER = (("sc", "tso"), ("tso", "pso"), ("tso", "rc11"), ("sc", "armv8"))
SEEDS = (*range(24), 125)
"""Found again among them when they are planted: guesses that wait (3 and 13), weak exchanges that never fail (125)."""
SAME = (("tso", "x86"), ("sc", "run sc"), ("tso", "run tso"), ("pso", "run pso"), ("rc11", "run rc11"))


def answers(path: Path) -> dict[str, Verdict]:
    found = {model: memfence.check(path, model=model, timeout_seconds=30).verdict for model in ("sc", "tso", "pso")}
    for answer in memfence.check_models(path, "x86,rc11,armv8", timeout_seconds=60).answers:
        found[answer.name] = answer.verdict
    for model in ("sc", "tso", "pso", "rc11"):
        found[f"run {model}"] = memfence.run(path, model=model, timeout_seconds=30).verdict
    return found


def contradictions(found: dict[str, Verdict]) -> list[tuple[str, str]]:
    """Pairs of answers that cannot both be right; UNKNOWN goes with all."""
    is_bad = {door: verdict is Verdict.VIOLATED for door, verdict in found.items() if verdict is not Verdict.UNKNOWN}
    both = [(a, b) for a, b in (*WEAKER, *SAME) if a in is_bad and b in is_bad]
    return [(a, b) for a, b in both if is_bad[a] > is_bad[b] or ((a, b) in SAME and is_bad[a] != is_bad[b])]


def check_against(seeds: Iterable[int], folder: Path) -> Counter[Verdict]:
    counts: Counter[Verdict] = Counter()
    for seed in seeds:
        path = folder / f"random{seed}.c"
        path.write_text(random_c(seed))
        found = answers(path)
        assert not contradictions(found), f"seed {seed}: {found}"
        counts.update(found.values())
    return counts


def test_every_door_gives_the_same_answer(tmp_path: Path) -> None:
    counts = check_against(SEEDS, tmp_path)
    assert counts[Verdict.VIOLATED] > 20 and counts[Verdict.HOLDS] > 20


@pytest.mark.slow
@pytest.mark.parametrize("part", range(30))
def test_every_door_gives_the_same_answer_for_many_programs(part: int, tmp_path: Path) -> None:
    check_against(range(1_000 + 100 * part, 1_100 + 100 * part), tmp_path)
