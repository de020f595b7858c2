"""What a report tells users to type next asks about the same program."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from support.c_compiler import needs_clang
from support.command_line import memfence

pytestmark = needs_clang

HELD = """
#include <assert.h>
#include <pthread.h>
#include "q.h"
static void *one(void *u) { data = VALUE; atomic_store_explicit(&flag, 1, memory_order_relaxed); return 0; }
static void *two(void *u) { if (atomic_load_explicit(&flag, memory_order_relaxed)) assert(data == VALUE); return 0; }
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, one, 0); pthread_create(&t, 0, two, 0);
    pthread_join(s, 0); pthread_join(t, 0);
    return 0;
}
"""
ASKS = "C11 and ARM allow more: "
SAYS = "C11 (rc11) says: "


@pytest.fixture
def held(tmp_path: Path) -> list[str]:
    (tmp_path / "in clude").mkdir()
    (tmp_path / "in clude" / "q.h").write_text("#include <stdatomic.h>\nextern int data; extern atomic_int flag;\n")
    (tmp_path / "a b.c").write_text(HELD)
    (tmp_path / "q.c").write_text('#include "q.h"\nint data; atomic_int flag;\n')
    return ["a b.c", "q.c", "-I", "in clude", "-D", "VALUE=4"]


def test_c_that_holds_on_x86_comes_with_the_line_that_asks_about_c11(held: list[str], tmp_path: Path) -> None:
    done = memfence("check", *held, folder=tmp_path)
    assert done.returncode == 0
    last, says = done.stdout.splitlines()[-2:]
    assert last.startswith(ASKS)
    assert says.startswith("C11 (rc11) says: VIOLATED: assert(data == VALUE) fails")
    asked = memfence(*shlex.split(last.removeprefix(ASKS))[1:], folder=tmp_path)
    assert asked.returncode == 1, asked.stdout + asked.stderr
    assert "x86   │ HOLDS" in asked.stdout and "rc11  │ VIOLATED" in asked.stdout and "armv8 │ VIOLATED" in asked.stdout


@pytest.mark.parametrize("options", [("-q",), ("--json",), ("--model", "sc"), ("--model", "x86,rc11")])
def test_no_other_answer_ends_with_it(options: tuple[str, ...], held: list[str], tmp_path: Path) -> None:
    said = memfence("check", *held, *options, folder=tmp_path).stdout
    assert ASKS not in said and SAYS not in said


def test_a_model_is_not_asked_about_c11(tmp_path: Path) -> None:
    (tmp_path / "m.pml").write_text("byte x; active proctype A() { x = 1; assert(x == 1) }\n")
    said = memfence("check", "m.pml", folder=tmp_path).stdout
    assert ASKS not in said and SAYS not in said


def what_c11_says(text: str, folder: Path, *options: str) -> tuple[int, str]:
    """The exit code, and the line about C11 without its beginning; empty where there is none."""
    (folder / "p.c").write_text(PROLOGUE + text)
    done = memfence("check", "p.c", *options, folder=folder)
    return done.returncode, next((line.removeprefix(SAYS) for line in done.stdout.splitlines() if SAYS in line), "")


PROLOGUE = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y; static int data;
"""
RELEASED = """
static void *one(void *u) { data = 1; atomic_store_explicit(&x, 1, memory_order_release); return 0; }
int main(void) {
    pthread_t t; pthread_create(&t, 0, one, 0);
    if (atomic_load_explicit(&x, memory_order_acquire)) assert(data == 1);
    pthread_join(t, 0);
}
"""
COUNTS = """
static void *one(void *u) { for (int i = 0; i < 3; i++) atomic_fetch_add(&x, 1); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, one, 0); one(0); pthread_join(t, 0); assert(x == 6); }
"""
FAILS = "int main(void) { assert(x == 1); }"


def test_c11_agrees_where_the_orders_are_enough(tmp_path: Path) -> None:
    assert what_c11_says(RELEASED, tmp_path) == (0, "HOLDS")


def test_a_race_of_plain_accesses_is_named_as_one(tmp_path: Path) -> None:
    code, line = what_c11_says(RELEASED.replace("memory_order_release", "memory_order_relaxed"), tmp_path)
    assert code == 0 and line.startswith("VIOLATED") and "a data race on `data`" in line


def test_what_volatile_accesses_count_as_is_said(tmp_path: Path) -> None:
    text = RELEASED.replace("static void *one", "static volatile int v;\nstatic void *one").replace("data", "v")
    text = text.replace("memory_order_release", "memory_order_relaxed")
    code, line = what_c11_says(text, tmp_path)
    assert code == 0 and line.startswith("VIOLATED: assert(v == 1) fails")
    assert "volatile accesses count as relaxed" in line


def test_what_fails_on_x86_is_not_asked_again(tmp_path: Path) -> None:
    assert what_c11_says(FAILS, tmp_path) == (1, "")


@pytest.mark.parametrize(
    "options", [("--criterion", "robust"), ("--ends",), ("--model", "x86"), ("--certificate", "o")]
)
def test_other_questions_are_not_asked_of_c11(options: tuple[str, ...], tmp_path: Path) -> None:
    assert what_c11_says(RELEASED, tmp_path, *options)[1] == ""


def test_the_exit_code_is_that_of_x86_whatever_c11_says(tmp_path: Path) -> None:
    code, line = what_c11_says(COUNTS, tmp_path)
    assert code == 0 and line.startswith(("HOLDS", "NO VIOLATION", "UNKNOWN"))


def test_c11_ends_with_the_time_of_the_question(tmp_path: Path) -> None:
    from memfence.api.c11 import LEAST_SECONDS, MOST_SECONDS, _seconds
    from memfence.deadline import Deadline
    from memfence.tasks.limits import Limits

    assert _seconds(Limits()) == LEAST_SECONDS
    assert _seconds(Limits(deadline=Deadline(0.5))) <= 0.5
    assert LEAST_SECONDS <= _seconds(Limits(deadline=Deadline(1000))) <= MOST_SECONDS
