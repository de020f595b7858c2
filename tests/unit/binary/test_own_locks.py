"""To initialise and destroy a lock that no other thread uses is no fence, as on x86; others see what is destroyed."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.tasks.answer import Verdict
from support.run_programs import HEAD, TWO_THREADS, run_text

KINDS = {
    "mutex": ("pthread_mutex_t", "pthread_mutex_init(&own, 0); pthread_mutex_destroy(&own);"),
    "read-write lock": ("pthread_rwlock_t", "pthread_rwlock_init(&own, 0); pthread_rwlock_destroy(&own);"),
    "spin lock": ("pthread_spinlock_t", "pthread_spin_init(&own, 0); pthread_spin_destroy(&own);"),
    "semaphore": ("sem_t", "sem_init(&own, 0, 0); sem_destroy(&own);"),
    "condition variable": ("pthread_cond_t", "pthread_cond_init(&own, 0); pthread_cond_destroy(&own);"),
}
BUFFERING = """
static atomic_int x, y;
static int r, s;
static void *one(void *unused) { FIRST atomic_store_explicit(&x, 1, memory_order_relaxed); BETWEEN
    r = atomic_load_explicit(&y, memory_order_relaxed); return 0; }
static void *two(void *unused) { FIRST atomic_store_explicit(&y, 1, memory_order_relaxed); BETWEEN
    s = atomic_load_explicit(&x, memory_order_relaxed); return 0; }
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_lock_that_comes_and_goes_orders_nothing(tmp_path: Path, kind: str) -> None:
    type, calls = KINDS[kind]
    text = HEAD + BUFFERING.replace("FIRST", f"{type} own;").replace("BETWEEN", calls)
    text += TWO_THREADS.replace("return 0;", "assert(r || s); return 0;")
    result = run_text(tmp_path, text, timeout_seconds=60)
    assert result.verdict is Verdict.VIOLATED and result.counts.borderline


SHARED = """
static pthread_mutex_t *shared;
static void *one(void *unused) { if (pthread_mutex_trylock(shared) == 0) pthread_mutex_unlock(shared); return 0; }
int main(void)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_t a;
    shared = &own;
    pthread_create(&a, 0, one, 0);
    JOINED pthread_mutex_destroy(&own);
    pthread_join(a, 0);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("joined", "expected"), [("pthread_join(a, 0); return", Verdict.HOLDS), ("", Verdict.VIOLATED)]
)
def test_one_on_a_stack_that_others_use_is_seen(tmp_path: Path, joined: str, expected: Verdict) -> None:
    assert run_text(tmp_path, HEAD + SHARED.replace("JOINED", joined), timeout_seconds=60).verdict is expected
