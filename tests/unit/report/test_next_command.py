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


@pytest.fixture
def held(tmp_path: Path) -> list[str]:
    (tmp_path / "in clude").mkdir()
    (tmp_path / "in clude" / "q.h").write_text("#include <stdatomic.h>\nextern int data; extern atomic_int flag;\n")
    (tmp_path / "a b.c").write_text(HELD)
    (tmp_path / "q.c").write_text('#include "q.h"\nint data; atomic_int flag;\n')
    return ["a b.c", "q.c", "-I", "in clude", "-D", "VALUE=4"]


def test_c_that_holds_on_x86_ends_with_the_line_that_asks_about_c11(held: list[str], tmp_path: Path) -> None:
    done = memfence("check", *held, folder=tmp_path)
    assert done.returncode == 0
    last = done.stdout.splitlines()[-1]
    assert last.startswith(ASKS)
    asked = memfence(*shlex.split(last.removeprefix(ASKS))[1:], folder=tmp_path)
    assert asked.returncode == 1, asked.stdout + asked.stderr
    assert "x86   │ HOLDS" in asked.stdout and "rc11  │ VIOLATED" in asked.stdout and "armv8 │ VIOLATED" in asked.stdout


@pytest.mark.parametrize("options", [("-q",), ("--json",), ("--model", "sc"), ("--model", "x86,rc11")])
def test_no_other_answer_ends_with_it(options: tuple[str, ...], held: list[str], tmp_path: Path) -> None:
    assert ASKS not in memfence("check", *held, *options, folder=tmp_path).stdout


def test_a_model_is_not_asked_about_c11(tmp_path: Path) -> None:
    (tmp_path / "m.pml").write_text("byte x; active proctype A() { x = 1; assert(x == 1) }\n")
    assert ASKS not in memfence("check", "m.pml", folder=tmp_path).stdout
