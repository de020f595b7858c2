"""`memfence compare --variants`: which version is right, and which of these is cheapest."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import memfence
from memfence.report.described import report_of
from memfence.report.formats.junit import render as junit
from memfence.report.formats.markdown import render as markdown
from memfence.tasks.usage import WrongUsage
from support.command_line import memfence as run

STORE_BUFFERING = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
int a, b;
static void put(atomic_int *place) {
#if FENCE
  atomic_store_explicit(place, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
#elif RMW
  atomic_exchange_explicit(place, 1, memory_order_acq_rel);
#else
  atomic_store_explicit(place, 1, memory_order_seq_cst);
#endif
}
#ifndef ORDER
#define ORDER memory_order_seq_cst
#endif
static int get(atomic_int *place) {
#if RMW
  return atomic_fetch_add_explicit(place, 0, memory_order_acq_rel);
#else
  return atomic_load_explicit(place, ORDER);
#endif
}
void *first(void *unused) { put(&x); a = get(&y); return 0; }
void *second(void *unused) { put(&y); b = get(&x); return 0; }
int main(void) {
  pthread_t p, q;
  pthread_create(&p, 0, first, 0);
  pthread_create(&q, 0, second, 0);
  pthread_join(p, 0);
  pthread_join(q, 0);
  assert(a || b);
  return 0;
}
"""
RELAXED = "@-DORDER=memory_order_relaxed"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sb.c").write_text(STORE_BUFFERING)
    return tmp_path


def test_each_variant_has_a_verdict_and_a_price_under_each_model(folder: Path) -> None:
    done = run(
        "compare",
        "--variants",
        "sb.c",
        f"sb.c@-DFENCE{RELAXED}",
        "sb.c@-DRMW",
        f"sb.c{RELAXED}",
        "--json",
        folder=folder,
    )
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["verdict"] == "holds" and found["models"] == ["x86", "rc11", "armv8"]
    verdicts = {one["variant"]: [answer["verdict"] for answer in one["models"]] for one in found["variants"]}
    assert verdicts == {
        "sb.c": ["holds"] * 3,
        f"sb.c@-DFENCE{RELAXED}": ["holds"] * 3,
        "sb.c@-DRMW": ["holds"] * 3,
        f"sb.c{RELAXED}": ["holds", "violated", "violated"],
    }
    prices = {one["variant"]: [answer["price"] for answer in one["models"]] for one in found["variants"]}
    assert prices["sb.c"] == [10, 6, 6]  # seq_cst store: 10, 1+2, 2+1; seq_cst load: 0, 1+2, 2+1
    assert prices[f"sb.c@-DFENCE{RELAXED}"] == [10, 8, 15]
    assert prices["sb.c@-DRMW"] == [20, 10, 16]
    assert found["best"] == ["sb.c"]


def test_what_fails_is_never_best_however_cheap(folder: Path) -> None:
    done = run("compare", "--variants", f"sb.c{RELAXED}", "--model", "rc11", "--json", folder=folder)
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"], found["best"]) == (1, "violated", [])


THREE_LOADS_OR_ONE_UPDATE = """\
#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
void *thread(void *unused) {
#if UPDATE
  atomic_exchange_explicit(&x, 0, memory_order_relaxed);
#else
  int a = x;
  a += x;
  a += x;
#endif
  return 0;
}
int main(void) {
  pthread_t p;
  pthread_create(&p, 0, thread, 0);
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  pthread_join(p, 0);
  return 0;
}
"""


def test_two_are_best_where_each_is_cheaper_under_a_model(folder: Path) -> None:
    """A seq_cst load is free on x86, where a read-modify-write is not."""
    (folder / "a.c").write_text(THREE_LOADS_OR_ONE_UPDATE)
    done = run("compare", "--variants", "a.c", "a.c@-DUPDATE", "--model", "x86,rc11", "--json", folder=folder)
    found = json.loads(done.stdout)
    assert [[answer["price"] for answer in one["models"]] for one in found["variants"]] == [[0, 9], [10, 3]]
    assert found["best"] == ["a.c", "a.c@-DUPDATE"]


def test_a_revision_is_read_with_its_own_headers(folder: Path) -> None:
    (folder / "order.h").write_text("#define ORDER memory_order_seq_cst\n")
    (folder / "sb.c").write_text('#include "order.h"\n' + STORE_BUFFERING)

    def git(*arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)

    git("init", "-q")
    git("add", "sb.c", "order.h")
    git("commit", "-qm", "one")
    (folder / "order.h").write_text("#define ORDER memory_order_relaxed\n")
    done = run(
        "compare", "--variants", "sb.c", "HEAD:sb.c", "HEAD:./sb.c@-DFENCE", "--model", "rc11", "--json", folder=folder
    )
    found = json.loads(done.stdout)
    assert [one["verdict"] for one in found["variants"]] == ["violated", "holds", "holds"]
    assert [one["revision"] for one in found["variants"]] == [None, "HEAD", "HEAD"]
    status = subprocess.run(["git", "status", "--short"], cwd=folder, capture_output=True, text=True, check=True)
    assert status.stdout == " M order.h\n"


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        (["nope.c"], 3, "cannot read `nope.c`"),
        (["HEAD:sb.c"], 3, "cannot read `HEAD:sb.c`"),
        (["sb.c@-D"], 2, "is not FILE"),
        (["sb.c", "--ltl", "[] true"], 2, "--ltl"),
        (["sb.c", "--no-fences"], 2, "--no-fences"),
        (["sb.c", "--model", "nine"], 2, "nine"),
    ],
)
def test_what_makes_no_sense_is_refused(folder: Path, typed: list[str], code: int, said: str) -> None:
    done = run("compare", "--variants", *typed, folder=folder)
    assert done.returncode == code and said in done.stderr and done.stdout == ""


def test_options_of_variants_mean_nothing_without_it(folder: Path) -> None:
    for typed in (["--model", "tso"], ["--unroll", "2"], ["--cost", "measured"]):
        done = run("compare", "sb.c", *typed, folder=folder)
        assert done.returncode == 2 and "--variants" in done.stderr


def test_in_python_and_as_markdown(folder: Path) -> None:
    result = memfence.compare_variants([folder / "sb.c", f"{folder / 'sb.c'}{RELAXED}"], "rc11")
    assert result.verdict == "holds" and [one.is_best for one in result.variants] == [True, False]
    text = markdown(report_of(result))
    assert "| variant | rc11 | price | best |" in text and "assert(a \\|\\| b) fails" in text
    assert 'failures="0"' in junit(report_of(result))
    with pytest.raises(WrongUsage):
        memfence.compare_variants([])
    with pytest.raises(WrongUsage):
        memfence.compare_variants([folder / "sb.c"], ltl="[] true")


def test_programs_without_memory_orders_are_asked_about_store_buffers(folder: Path) -> None:
    fenced = "bool x, y;\nactive proctype P() { x = true; mfence(); assert(true) }\n"
    (folder / "a.pml").write_text(fenced)
    (folder / "b.pml").write_text(fenced.replace("mfence(); ", ""))
    found = json.loads(run("compare", "--variants", "a.pml", "b.pml", "--json", folder=folder).stdout)
    assert found["models"] == ["tso", "pso"] and found["best"] == ["b.pml"]
    assert [[answer["price"] for answer in one["models"]] for one in found["variants"]] == [[10, 10], [0, 0]]
