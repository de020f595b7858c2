"""Queues and locks of other people, each with a small client: none is borderline until a fence is removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.api.run import run
from memfence.questions.run_result import RunResult
from memfence.tasks.answer import Verdict
from support.corpus import CORPUS

C = CORPUS / "c"
pytestmark = pytest.mark.skipif(not C.is_dir(), reason="the corpus is not here")

SPSC = """
#include <cassert>
#include <thread>
#include "rigtorp/SPSCQueue.h"
int main() {
  rigtorp::SPSCQueue<int> queue(1);
  std::thread consumer([&] {
    for (int i = 1; i <= 2; ++i) {
      while (!queue.front()) {}
      assert(*queue.front() == i);
      queue.pop();
    }
  });
  queue.push(1);
  queue.push(2);
  consumer.join();
}
"""
MPMC = """
#include <cassert>
#include <thread>
#include "rigtorp/MPMCQueue.h"
int main() {
  rigtorp::MPMCQueue<int> queue(2);
  std::thread one([&] { queue.push(1); }), two([&] { queue.push(2); });
  int first, second;
  queue.pop(first);
  queue.pop(second);
  one.join();
  two.join();
  assert(first + second == 3);
}
"""
CLIENT = """
int main(void) {
    pthread_t a, b;
    START;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"""
SPINLOCK = """
#include <assert.h>
#include <pthread.h>
#include <ck_spinlock.h>
static struct ck_spinlock_LOCK lock;
static int inside;
static void *one(void *unused) {
    ck_spinlock_LOCK_lock(&lock);
    assert(inside == 0);
    inside = 1;
    inside = 0;
    ck_spinlock_LOCK_unlock(&lock);
    return 0;
}
#define two one
#define START ck_spinlock_LOCK_init(&lock)
"""
RING = """
#include <assert.h>
#include <pthread.h>
#include <ck_ring.h>
static ck_ring_t ring;
static ck_ring_buffer_t buffer[4];
static int items[2];
static void *one(void *unused) {
    for (int i = 0; i < 2; i++)
        while (!ck_ring_enqueue_spsc(&ring, buffer, &items[i]))
            ;
    return 0;
}
static void *two(void *unused) {
    for (int i = 0; i < 2; i++) {
        void *got;
        while (!ck_ring_dequeue_spsc(&ring, buffer, &got))
            ;
        assert(got == &items[i]);
    }
    return 0;
}
#define START ck_ring_init(&ring, 4)
"""
BRLOCK = """
#include <assert.h>
#include <pthread.h>
#include <ck_brlock.h>
static ck_brlock_t lock = CK_BRLOCK_INITIALIZER;
static ck_brlock_reader_t mine;
static volatile int value, copy;
static void *one(void *unused) {
    ck_brlock_read_lock(&lock, &mine);
    assert(value == copy);
    ck_brlock_read_unlock(&mine);
    return 0;
}
static void *two(void *unused) {
    ck_brlock_write_lock(&lock);
    value = 1;
    copy = 1;
    ck_brlock_write_unlock(&lock);
    return 0;
}
#define START ck_brlock_read_register(&lock, &mine)
"""


def run_client(folder: Path, text: str, *include: Path) -> RunResult:
    suffix = "cpp" if "#include <thread>" in text else "c"
    path = folder / f"client.{suffix}"
    path.write_text(text if suffix == "cpp" else text + CLIENT)
    macros = () if suffix == "cpp" else ("CK_USE_CC_BUILTINS",)
    return run(path, macros=macros, include=tuple(map(str, include)), timeout_seconds=60)


@pytest.mark.parametrize(("text", "name"), [(SPSC, "SPSCQueue"), (MPMC, "MPMCQueue")], ids=["spsc", "mpmc"])
def test_a_queue_is_store_buffer_safe_with_its_client(text: str, name: str, tmp_path: Path) -> None:
    result = run_client(tmp_path, text, C / "queues" / name / "include")
    assert result.verdict is Verdict.HOLDS and result.counts.executions > 5


@pytest.mark.parametrize("lock", ["fas", "cas", "dec", "ticket"])
def test_a_spinlock_is_store_buffer_safe(lock: str, tmp_path: Path) -> None:
    result = run_client(tmp_path, SPINLOCK.replace("LOCK", lock), C / "ck" / "include")
    assert result.verdict is Verdict.HOLDS and result.counts.executions > 5


def test_a_ring_is_store_buffer_safe_with_its_client(tmp_path: Path) -> None:
    assert run_client(tmp_path, RING, C / "ck" / "include").verdict is Verdict.HOLDS


def test_a_lock_without_its_locked_store_is_confirmed_to_be_wrong(tmp_path: Path) -> None:
    assert run_client(tmp_path, BRLOCK, C / "ck" / "include").verdict is Verdict.HOLDS
    text = (C / "ck" / "include" / "ck_brlock.h").read_text()
    locked = "ck_pr_fas_uint(&reader->n_readers, 1);"
    assert locked in text
    broken = text.replace(locked, "ck_pr_store_uint(&reader->n_readers, 1);").replace("ck_pr_fence_atomic_load();", "")
    (tmp_path / "ck_brlock.h").write_text(broken)
    result = run_client(tmp_path, BRLOCK, tmp_path, C / "ck" / "include")
    assert result.verdict is Verdict.VIOLATED and result.confirmed > 0 and result.counts.failing == 0


ANSWERS = """
#include <atomic>
#include <thread>
#include "rigtorp/MPMCQueue.h"
int main() {
  rigtorp::MPMCQueue<int> there(1), back(1);
  std::thread other([&] { int got; back.push(1); there.pop(got); });
  int got;
  there.push(1);
  back.pop(got);
  other.join();
}
"""


def test_a_queue_whose_pop_is_no_locked_step_is_borderline(tmp_path: Path) -> None:
    headers = C / "queues" / "MPMCQueue" / "include"
    assert run_client(tmp_path, ANSWERS, headers).verdict is Verdict.HOLDS
    text = (headers / "rigtorp" / "MPMCQueue.h").read_text()
    locked = "auto const tail = tail_.fetch_add(1);"
    assert locked in text
    plain = "auto const tail = tail_.load(); tail_.store(tail + 1, std::memory_order_release);"
    (tmp_path / "rigtorp").mkdir()
    (tmp_path / "rigtorp" / "MPMCQueue.h").write_text(text.replace(locked, plain))
    result = run_client(tmp_path, ANSWERS, tmp_path)
    assert result.is_robust is False and result.counts.failing == 0
    assert {Path(fence.after.place.path).name for finding in result.findings for fence in finding.stale.fences} == {
        "MPMCQueue.h"
    }


SLEEPER = """
#include <atomic>
#include <cassert>
#include <thread>
#include "rigtorp/SPSCQueue.h"
std::atomic<int> asleep, woken;
int main() {
  rigtorp::SPSCQueue<int> queue(1);
  bool missed = false;
  std::thread consumer([&] {
    asleep.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    missed = queue.front() == nullptr;
  });
  queue.push(1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (asleep.load(std::memory_order_relaxed)) woken.store(1, std::memory_order_relaxed);
  consumer.join();
  assert(!missed || woken.load());
}
"""


def test_a_consumer_that_sleeps_misses_an_item_of_a_queue_without_the_fence_behind_push(tmp_path: Path) -> None:
    headers = C / "queues" / "SPSCQueue" / "include"
    assert run_client(tmp_path, SLEEPER, headers).verdict is Verdict.HOLDS
    fence = "  queue.push(1);\n  std::atomic_thread_fence(std::memory_order_seq_cst);\n"
    assert fence in SLEEPER
    result = run_client(tmp_path, SLEEPER.replace(fence, "  queue.push(1);\n"), headers)
    assert result.verdict is Verdict.VIOLATED and result.confirmed and result.counts.failing == 0
