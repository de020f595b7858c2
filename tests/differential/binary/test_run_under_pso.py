"""Compiled programs under PSO: exploring their store buffers gives the verdict that checking their model gives."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from memfence.api.check import check
from memfence.api.run import run
from memfence.tasks.answer import Verdict
from support.c_compiler import needs_clang

NAMES = "xyz"


def c_text(seed: int) -> str:
    """Two threads of stores, loads, exchanges and fences, and an assertion about all that was loaded."""
    chance = random.Random(seed)
    loads: list[str] = []

    def statement() -> str:
        name = chance.choice(NAMES[: chance.choice((2, 2, 3))])
        kind = chance.choice(("store", "store", "store", "load", "load", "load", "release", "exchange", "fence"))
        match kind:
            case "load":
                loads.append(f"r{len(loads)}")
                return f"{loads[-1]} = atomic_load_explicit(&{name}, memory_order_relaxed);"
            case "exchange":
                return f"atomic_exchange(&{name}, {chance.choice((1, 2))});"
            case "fence":
                return f"atomic_thread_fence(memory_order_{chance.choice(('seq_cst', 'release'))});"
            case _:
                order = "release" if kind == "release" else "relaxed"
                return f"atomic_store_explicit(&{name}, {chance.choice((1, 2))}, memory_order_{order});"

    bodies = [[statement() for _ in range(chance.choice((2, 3)))] for _ in range(2)]
    threads = [f"static void *t{n}(void *unused) {{ {' '.join(body)} return 0; }}" for n, body in enumerate(bodies)]
    wrong = " && ".join(f"{name} == {chance.choice((0, 0, 1, 2))}" for name in loads) or "0"
    main = (
        "int main(void) { pthread_t a, b; pthread_create(&a, 0, t0, 0); pthread_create(&b, 0, t1, 0); "
        f"pthread_join(a, 0); pthread_join(b, 0); assert(!({wrong})); return 0; }}"
    )
    head = ["#include <assert.h>", "#include <pthread.h>", "#include <stdatomic.h>", "static atomic_int x, y, z;"]
    registers = [f"static int {', '.join(loads)};"] if loads else []
    return "\n".join([*head, *registers, *threads, main]) + "\n"


def check_agreement(seed: int, folder: Path) -> Verdict:
    path = folder / f"random{seed}.c"
    path.write_text(c_text(seed))
    ran = run(path, model="pso", timeout_seconds=60)
    assert ran.verdict is check(path, model="pso").verdict, path.read_text()
    return ran.verdict


@needs_clang
def test_a_few_random_programs_have_the_verdict_of_their_models(tmp_path: Path) -> None:
    verdicts = {check_agreement(seed, tmp_path) for seed in range(8)}
    assert verdicts == {Verdict.HOLDS, Verdict.VIOLATED}, "the generator has to make both kinds"


@needs_clang
@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_random_programs_have_the_verdict_of_their_models(part: int, tmp_path: Path) -> None:
    verdicts = [check_agreement(100 + 30 * part + seed, tmp_path) for seed in range(30)]
    assert set(verdicts) == {Verdict.HOLDS, Verdict.VIOLATED}
