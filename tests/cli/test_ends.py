"""`memfence check --ends`: every thread returns, or an infinite run shows which one does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command_line import memfence

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "c"
HEAD = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
atomic_int flag, other;
"""
TWO = """
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"""
STUCK = """
void *one(void *u) { flag = 1; flag = 0; return 0; }
void *two(void *u) { while (!flag) {} return 0; }
"""
TAKING_TURNS = """
void *one(void *u) { while (flag != 1) { other = 1; other = 0; } return 0; }
void *two(void *u) { while (other != 1) {} flag = 1; return 0; }
"""
HANDSHAKE = """
void *one(void *u) {
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  while (!atomic_load_explicit(&other, memory_order_relaxed)) {}
  return 0;
}
void *two(void *u) {
  while (!atomic_load_explicit(&flag, memory_order_relaxed)) {}
  atomic_store_explicit(&other, 1, memory_order_relaxed);
  return 0;
}
"""
AGAIN_AND_AGAIN = """
void *one(void *u) {
  while (!atomic_load_explicit(&other, memory_order_relaxed)) atomic_store_explicit(&flag, 1, memory_order_relaxed);
  return 0;
}
void *two(void *u) {
  while (!atomic_load_explicit(&flag, memory_order_relaxed)) {}
  atomic_store_explicit(&other, 1, memory_order_relaxed);
  return 0;
}
"""
BY_CHANCE = """
static void add(void) {
  int old = flag;
  while (!atomic_compare_exchange_weak(&flag, &old, old ^ 1)) other = old;
}
void *one(void *u) { add(); return 0; }
void *two(void *u) { add(); return 0; }
"""
ANSWERS = [
    ("stuck", STUCK, 1),
    ("turns", TAKING_TURNS, 1),  # nothing makes the other thread look while the flag is up
    ("handshake", HANDSHAKE, 0),
    ("again", AGAIN_AND_AGAIN, 0),  # its buffer may hold any number of stores
    ("chance", BY_CHANCE, 0),  # a compare-exchange fails for no reason only so many times
]


@pytest.mark.parametrize(("name", "threads", "expected"), ANSWERS, ids=[one[0] for one in ANSWERS])
@pytest.mark.parametrize("model", ["sc", "tso"])
def test_threads_return_or_a_lasso_shows_why_not(tmp_path: Path, name: str, threads: str, expected: int, model: str):
    source = tmp_path / f"{name}.c"
    source.write_text(HEAD + threads + TWO)
    done = memfence("check", source, "--ends", "--model", model)
    assert done.returncode == expected, done.stdout
    assert "every thread returns" in done.stdout
    assert expected == 0 or "for ever" in done.stdout or "nothing can happen" in done.stdout


def test_buffers_of_any_length_are_said_so(tmp_path: Path) -> None:
    source = tmp_path / "again.c"
    source.write_text(HEAD + AGAIN_AND_AGAIN + TWO)
    found = json.loads(memfence("check", source, "--ends", "--json").stdout)
    assert found["verdict"] == "holds" and found.get("bound") is None and found["engine"] == "fair buffers"
    bounded = json.loads(memfence("check", source, "--ends", "--buffer-bound", 2, "--json").stdout)
    assert bounded["verdict"] == "holds_up_to" and bounded["bound"] == 2


def test_a_lost_wake_up_is_a_thread_that_never_returns() -> None:
    done = memfence("check", EXAMPLES / "sober_lost_wakeup.c", "--ends")
    assert done.returncode == 1 and "(liveness): every thread returns" in done.stdout
    assert memfence("check", EXAMPLES / "wakeup_fetch_add.c", "--ends", "-q").returncode == 0


def test_assertions_are_asked_first() -> None:
    done = memfence("check", EXAMPLES / "postgresql_latch.c", "--ends", "-q")
    assert done.returncode == 1 and "(safety): assert(" in done.stdout


def test_it_is_refused_where_nobody_answers_it(tmp_path: Path) -> None:
    source = tmp_path / "stuck.c"
    source.write_text(HEAD + STUCK + TWO)
    done = memfence("check", source, "--ends", "--model", "rc11")
    assert done.returncode == 2 and "--ends" in done.stderr
    assert memfence("check", source, "--ends", "--criterion", "robust").returncode == 2
    assert "has no certificate" in memfence("check", EXAMPLES / "wakeup_fetch_add.c", "--ends", "--verify").stdout
