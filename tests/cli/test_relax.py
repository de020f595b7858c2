"""`memfence relax`: the cheapest orders, proved from the patched text, and what forbids each weaker one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import memfence
from memfence.api.relax import Question, relax_questions
from memfence.tasks.options import CheckOptions
from support.command_line import memfence as run

MESSAGE = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_int ready, spare;
static void put(int value) {
  data = value;
  atomic_thread_fence(memory_order_seq_cst);
  atomic_store(&ready, 1);
}
void *writer(void *unused) { put(42); return 0; }
void *reader(void *unused) {
  int none = 0;
  if (atomic_load_explicit(&ready, memory_order_seq_cst))
    assert(data == 42);
  atomic_compare_exchange_strong(&spare, &none, 1);
  return 0;
}
int main(void) {
  pthread_t p, q;
  pthread_create(&p, 0, writer, 0);
  pthread_create(&q, 0, reader, 0);
  pthread_join(p, 0);
  pthread_join(q, 0);
  return 0;
}
"""
CPP = """\
#include <atomic>
#include <cassert>
#include <thread>
int data;
std::atomic<int> ready{0}, spare{0};
int main() {
  std::thread p([] { data = 42; std::atomic_thread_fence(std::memory_order_seq_cst); ready.store(1); });
  std::thread q([] { int none = 0; if (ready.load()) assert(data == 42); spare.compare_exchange_strong(none, 1); });
  p.join();
  q.join();
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mp.c").write_text(MESSAGE)
    (tmp_path / "mp.cpp").write_text(CPP)
    return tmp_path


def test_the_fence_goes_the_orders_become_weak_and_the_text_is_proved(folder: Path) -> None:
    done = run("relax", "mp.c", "-o", "out.c", "--json", folder=folder)
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"], found["minimum"]) == (0, "relaxed", True)
    places = {(one["line"], one["of"]): (one["order"], one["enough"], one["judgement"]) for one in found["places"]}
    assert places == {
        (8, "fence"): ("seq_cst", "relaxed", "too strong"),
        (9, "store"): ("seq_cst", "release", "too strong"),
        (14, "load"): ("seq_cst", "acquire", "too strong"),
        (16, "rmw"): ("seq_cst", "relaxed", "too strong"),
    }
    text = (folder / "out.c").read_text()
    assert "atomic_thread_fence" not in text
    assert "atomic_store_explicit(&ready, 1, memory_order_release);" in text
    assert "&none, 1, memory_order_relaxed, memory_order_relaxed)" in text
    assert run("check", "out.c", "--model", "x86,rc11,armv8", folder=folder).returncode == 0
    again = run("relax", "out.c", "--json", folder=folder)
    assert (again.returncode, json.loads(again.stdout)["verdict"]) == (0, "minimal")
    assert (folder / "mp.c").read_text() == MESSAGE


def test_every_further_weakening_is_forbidden_by_a_model_and_a_run(folder: Path) -> None:
    found = json.loads(run("relax", "mp.c", "--json", folder=folder).stdout)
    reasons = {one["line"]: one["forbidden"] for one in found["places"] if one["forbidden"]}
    assert set(reasons) == {9, 14}
    for [reason] in reasons.values():
        assert reason["weaker"] == "relaxed" and {one["model"] for one in reason["models"]} == {"rc11", "armv8"}
        assert "data" in reason["models"][0]["reason"]


def test_in_cpp_a_method_gets_the_order_as_an_argument(folder: Path) -> None:
    diff = run("relax", "mp.cpp", "--diff", folder=folder).stdout
    assert "ready.store(1, std::memory_order_release)" in diff
    assert "ready.load(std::memory_order_acquire)" in diff
    assert "spare.compare_exchange_strong(none, 1, std::memory_order_relaxed)" in diff
    assert "+  std::thread p([] { data = 42;  ready" in diff


def test_lines_are_kept(folder: Path) -> None:
    found = json.loads(run("relax", "mp.c", "--keep", "8", "--json", folder=folder).stdout)
    places = {one["line"]: (one["enough"], one["kept"]) for one in found["places"]}
    assert places[8] == ("seq_cst", "asked for")
    assert places[9] == ("relaxed", None)  # the fence does it


def test_what_is_kept_is_not_said_to_be_needed(folder: Path) -> None:
    (folder / "kept.c").write_text(MESSAGE.replace("atomic_store(&ready, 1)", "ready = 1"))
    done = run("relax", "kept.c", "--keep", "8", "--keep", "14", "--keep", "16", "--model", "rc11", folder=folder)
    assert done.returncode == 0 and done.stdout.startswith("NO ORDER THAT MAY BE CHANGED IS TOO STRONG")


def test_what_is_too_weak_becomes_stronger(folder: Path) -> None:
    weak = MESSAGE.replace("  atomic_thread_fence(memory_order_seq_cst);\n", "").replace(
        "atomic_store(&ready, 1)", "atomic_store_explicit(&ready, 1, memory_order_relaxed)"
    )
    (folder / "weak.c").write_text(weak)
    done = run("relax", "weak.c", "--json", folder=folder)
    judgements = {one["line"]: one["judgement"] for one in json.loads(done.stdout)["places"]}
    assert done.returncode == 0 and judgements[8] == "too weak"
    assert json.loads(done.stdout)["verdict"] == "fixed"


def test_what_no_order_helps_is_violated_and_nothing_is_written(folder: Path) -> None:
    (folder / "wrong.c").write_text(MESSAGE.replace("data == 42", "data == 41"))
    done = run("relax", "wrong.c", "--in-place", folder=folder)
    assert done.returncode == 1 and done.stdout.startswith("VIOLATED")
    assert (folder / "wrong.c").read_text() == MESSAGE.replace("data == 42", "data == 41")


def test_on_x86_acquire_and_release_cost_nothing_and_are_dropped_all_the_same(folder: Path) -> None:
    found = json.loads(run("relax", "mp.c", "--model", "x86", "--json", folder=folder).stdout)
    assert {one["enough"] for one in found["places"]} == {"relaxed"}
    assert found["prices"] == [{"model": "x86", "before": 30, "after": 10}]


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        (["mp.pml"], 3, "can be written into C and C++ only"),
        (["none.c"], 3, "none.c"),
        (["mp.c", "--keep", "0"], 2, "--keep"),
        (["mp.c", "--keep", "999"], 2, "--keep"),
        (["mp.c", "-o", "mp.c"], 2, "mp.c"),
        (["mp.c", "--threads", "2"], 2, "--threads"),
    ],
)
def test_what_makes_no_sense_is_refused(folder: Path, typed: list[str], code: int, said: str) -> None:
    (folder / "mp.pml").write_text("active proctype P() { assert(true) }\n")
    done = run("relax", *typed, folder=folder)
    assert done.returncode == code and said in done.stderr


def test_a_time_limit_ends_in_unknown(folder: Path) -> None:
    done = run("relax", "mp.c", "--timeout", "0.001", folder=folder)
    assert done.returncode == 4 and "relax" not in done.stderr.lower()


def test_questions_that_share_a_text_are_answered_together(folder: Path) -> None:
    """One client needs the message, the other nothing: together they need what each of them needs."""
    clients = [folder / "mp.c", folder / "mp.c"]
    programs = [memfence.load(path) for path in clients]
    other = memfence.load_text(programs[0].source)
    questions = [Question(one, ("rc11",), CheckOptions()) for one in (programs[0], other)]
    found = relax_questions(questions)
    assert found.verdict == "relaxed" and len(found.after) == 2
    assert {one.place.span.line: one.order.value for one in found.places}[9] == "release"
