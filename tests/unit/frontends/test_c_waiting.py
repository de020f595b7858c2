"""Waits that end without a signal or in time, locks that were destroyed: POSIX, C11 and C++, under every model."""

from __future__ import annotations

import pytest

from support.c_compiler import needs_clang
from support.c_verdicts import MODELS, OF_EVENTS, WITH_STATES, c_program, everywhere, verdicts, words

pytestmark = needs_clang

HEAD = """
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <threads.h>
#include <time.h>
static struct timespec time_limit = {1, 0};
"""
POSIX = """
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
#define LOCK pthread_mutex_lock(&m)
#define UNLOCK pthread_mutex_unlock(&m)
#define SIGNAL pthread_cond_signal(&c)
#define BROADCAST pthread_cond_broadcast(&c)
"""
C11 = """
static mtx_t m; static cnd_t c;
#define LOCK mtx_lock(&m)
#define UNLOCK mtx_unlock(&m)
#define SIGNAL cnd_signal(&c)
#define BROADCAST cnd_broadcast(&c)
"""
WAITS = {
    "pthread_cond_wait(&c, &m)": POSIX,
    "pthread_cond_timedwait(&c, &m, &time_limit)": POSIX,
    "pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &time_limit)": POSIX,
    "cnd_wait(&c, &m)": C11,
    "cnd_timedwait(&c, &m, &time_limit)": C11,
}
UNTIMED = ("pthread_cond_wait(&c, &m)", "cnd_wait(&c, &m)")


def hand_over(wait: str, how: str, wake: str = "SIGNAL;") -> str:
    """A consumer that waits until `main` is ready. `how`: `if` or `while`."""
    return f"""{HEAD}{WAITS[wait]}
static int ready;
static void *consumer(void *unused) {{
    LOCK;
    {how} (!ready) {wait};
    assert(ready);
    UNLOCK;
    return 0;
}}
int main(void) {{
    pthread_t t;
    pthread_create(&t, 0, consumer, 0);
    LOCK; ready = 1; {wake} UNLOCK;
    pthread_join(t, 0);
    return 0;
}}"""


@pytest.mark.parametrize("wait", WAITS)
def test_a_wait_behind_an_if_may_end_too_early(wait: str) -> None:
    found = verdicts(c_program(hand_over(wait, "if")))
    assert found == dict.fromkeys(MODELS, ("violated", "assertion violated"))


@pytest.mark.parametrize("wake", ["SIGNAL;", "BROADCAST;"])
@pytest.mark.parametrize("wait", WAITS)
def test_a_wait_in_a_loop_is_right(wait: str, wake: str) -> None:
    program = c_program(hand_over(wait, "while", wake))
    assert words(program, (*WITH_STATES, "x86")) == everywhere("holds", (*WITH_STATES, "x86"))
    for model, verdict in words(program, ("rc11", "armv8")).items():
        assert verdict in ("holds", "holds_up_to"), model  # the loop may go round by chance any number of times


@pytest.mark.parametrize("wait", UNTIMED)
def test_nobody_may_rely_on_waking_by_chance(wait: str) -> None:
    """Without a signal the thread sleeps for ever, although it could wake."""
    for how in ("if", "while"):
        program = c_program(hand_over(wait, how, "").replace("assert(ready);", ""))
        assert words(program) == everywhere("violated"), how


@pytest.mark.parametrize("wait", [wait for wait in WAITS if wait not in UNTIMED])
def test_a_timed_wait_is_no_deadlock(wait: str) -> None:
    program = c_program(hand_over(wait, "if", "").replace("assert(ready);", ""))
    assert words(program) == everywhere("holds")


def test_a_timed_wait_says_which_way_it_ended() -> None:
    for wait, late in (("pthread_cond_timedwait(&c, &m, &time_limit)", 110), ("cnd_timedwait(&c, &m, &time_limit)", 4)):
        text = f"""{HEAD}{WAITS[wait]}
static void *waits(void *unused)
{{ LOCK; int r = {wait}; assert(r == 0 || r == {late}); assert(RESULT); UNLOCK; return 0; }}
int main(void) {{ pthread_t t; pthread_create(&t, 0, waits, 0); pthread_join(t, 0); return 0; }}"""
        assert words(c_program(text.replace("RESULT", "1"))) == everywhere("holds")
        for possible in ("r != 0", f"r != {late}"):
            assert words(c_program(text.replace("RESULT", possible))) == everywhere("violated"), (wait, possible)


def test_a_signal_wakes_one_and_a_broadcast_all() -> None:
    text = f"""{HEAD}{POSIX}
static int go;
static void *waits(void *unused) {{ LOCK; while (!go) pthread_cond_wait(&c, &m); UNLOCK; return 0; }}
int main(void) {{
    pthread_t t, u;
    pthread_create(&t, 0, waits, 0); pthread_create(&u, 0, waits, 0);
    LOCK; go = 1; WAKE UNLOCK;
    pthread_join(t, 0); pthread_join(u, 0);
    return 0;
}}"""
    assert words(c_program(text.replace("WAKE", "SIGNAL;")), WITH_STATES) == everywhere("violated", WITH_STATES)
    assert words(c_program(text.replace("WAKE", "BROADCAST;")), WITH_STATES) == everywhere("holds", WITH_STATES)


def test_a_loop_around_a_wait_stays_small() -> None:
    """That a thread may wake at any time adds no more than the moments at which it has been woken for real."""
    from memfence import check

    program = c_program(hand_over("pthread_cond_wait(&c, &m)", "while"))
    assert check(program, model="sc").stats.states < 60


CPP = """
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
std::mutex m; std::condition_variable c; bool ready;
int main() {
    std::thread t([] { std::unique_lock<std::mutex> l(m); WAIT; assert(ready); });
    { std::lock_guard<std::mutex> l(m); ready = true; c.notify_one(); }
    t.join();
}"""


@pytest.mark.parametrize(
    ("wait", "verdict"),
    [
        ("if (!ready) c.wait(l)", "violated"),
        ("while (!ready) c.wait(l)", "holds"),
        ("c.wait(l, [] { return ready; })", "holds"),
    ],
)
def test_so_it_is_in_cpp(wait: str, verdict: str) -> None:
    program = c_program(CPP.replace("WAIT", wait), "test.cpp")
    assert words(program, WITH_STATES) == everywhere(verdict, WITH_STATES)


def test_an_unlock_behind_a_branch_releases() -> None:
    text = f"""{HEAD}{POSIX}
static int x;
static void *work(void *unused) {{ LOCK; if (x == 2) UNLOCK; else {{ x++; UNLOCK; }} return 0; }}
int main(void) {{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    LOCK; if (x == 2) {{ UNLOCK; return 0; }} UNLOCK;
    return 1;
}}"""
    assert words(c_program(text)) == everywhere("holds")


# Locks that are taken for some time.

TIMED = {
    "pthread_mutex_timedlock(&m, &time_limit)": ("pthread_mutex_unlock(&m);", "pthread_mutex_lock(&m);"),
    "mtx_timedlock(&n, &time_limit)": ("mtx_unlock(&n);", "mtx_lock(&n);"),
    "sem_timedwait(&s, &time_limit)": ("sem_post(&s);", "sem_wait(&s);"),
    "pthread_rwlock_timedwrlock(&l, &time_limit)": ("pthread_rwlock_unlock(&l);", "pthread_rwlock_wrlock(&l);"),
    "pthread_rwlock_timedrdlock(&l, &time_limit)": ("pthread_rwlock_unlock(&l);", "pthread_rwlock_wrlock(&l);"),
}
OBJECTS = """
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static mtx_t n; static sem_t s;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; static int x;
"""


@pytest.mark.parametrize("call", TIMED)
def test_a_timed_lock_gives_up_only_where_the_lock_is_taken(call: str) -> None:
    release, take = TIMED[call]
    text = f"""{HEAD}{OBJECTS}
static void *tries(void *unused) {{ if ({call} == 0) {{ x = x; {release} }} else assert(LATE); return 0; }}
int main(void) {{
    pthread_t t;
    sem_init(&s, 0, 1);
    OTHER
    pthread_create(&t, 0, tries, 0);
    pthread_join(t, 0);
    return 0;
}}"""
    free = text.replace("LATE", "0").replace("OTHER", "")
    assert words(c_program(free)) == everywhere("holds")
    taken = text.replace("OTHER", take)
    assert words(c_program(taken.replace("LATE", "0"))) == everywhere("violated")
    assert words(c_program(taken.replace("LATE", "1"))) == everywhere("holds")


# Read-write locks, barriers and semaphores, also under models of events.

GUARDED = {
    "read-write lock": (
        "pthread_rwlock_wrlock(&l); x++; y++; pthread_rwlock_unlock(&l);",
        "pthread_rwlock_rdlock(&l); assert(x == y); pthread_rwlock_unlock(&l);",
    ),
    "tried read-write lock": (
        "if (pthread_rwlock_trywrlock(&l) == 0) { x++; y++; pthread_rwlock_unlock(&l); }",
        "if (pthread_rwlock_tryrdlock(&l) == 0) { assert(x == y); pthread_rwlock_unlock(&l); }",
    ),
    "barrier": ("x = 1; pthread_barrier_wait(&b); assert(y == 1);", "y = 1; pthread_barrier_wait(&b); assert(x == 1);"),
    "semaphore": ("x = 1; sem_post(&s);", "sem_wait(&s); assert(x == 1);"),
    "tried semaphore": ("x = 1; sem_post(&s);", "if (sem_trywait(&s) == 0) assert(x == 1);"),
    "tried mutex": (
        "if (pthread_mutex_trylock(&m) == 0) { x++; pthread_mutex_unlock(&m); }",
        "if (pthread_mutex_trylock(&m) == 0) { x++; pthread_mutex_unlock(&m); }",
    ),
}


def guarded(kind: str, then: str = "") -> str:
    first, second = GUARDED[kind]
    return f"""{HEAD}{OBJECTS}
static pthread_barrier_t b; static int y;
static void *one(void *unused) {{ {first} return 0; }}
static void *two(void *unused) {{ {second} return 0; }}
int main(void) {{
    pthread_t t, u;
    pthread_barrier_init(&b, 0, 2); sem_init(&s, 0, 0);
    pthread_create(&t, 0, one, 0); pthread_create(&u, 0, two, 0);
    pthread_join(t, 0); pthread_join(u, 0);
    {then}
    return 0;
}}"""


DESTROY_ALL = "pthread_rwlock_destroy(&l); pthread_barrier_destroy(&b); sem_destroy(&s); pthread_mutex_destroy(&m);"


@pytest.mark.parametrize("then", ["", DESTROY_ALL])
@pytest.mark.parametrize("kind", GUARDED)
def test_what_a_lock_guards_is_seen_in_order(kind: str, then: str) -> None:
    assert words(c_program(guarded(kind, then))) == everywhere("holds")


def test_without_the_lock_it_is_not() -> None:
    racy = (
        guarded("read-write lock")
        .replace("pthread_rwlock_rdlock(&l);", "")
        .replace("assert(x == y); pthread_rwlock_unlock(&l);", "assert(x == y);")
    )
    assert set(words(c_program(racy)).values()) == {"violated"}


# The life of locks.

LIVES = {
    "mutex": (
        "pthread_mutex_t o = PTHREAD_MUTEX_INITIALIZER;",
        "pthread_mutex_init(&o, 0);",
        "pthread_mutex_destroy(&o);",
    ),
    "spin lock": ("pthread_spinlock_t o;", "pthread_spin_init(&o, 0);", "pthread_spin_destroy(&o);"),
    "read-write lock": ("pthread_rwlock_t o;", "pthread_rwlock_init(&o, 0);", "pthread_rwlock_destroy(&o);"),
    "condition variable": ("pthread_cond_t o;", "pthread_cond_init(&o, 0);", "pthread_cond_destroy(&o);"),
    "semaphore": ("sem_t o;", "sem_init(&o, 0, 1);", "sem_destroy(&o);"),
    "barrier": ("pthread_barrier_t o;", "pthread_barrier_init(&o, 0, 1);", "pthread_barrier_destroy(&o);"),
    "c11 mutex": ("mtx_t o;", "mtx_init(&o, mtx_plain);", "mtx_destroy(&o);"),
    "c11 condition variable": ("cnd_t o;", "cnd_init(&o);", "cnd_destroy(&o);"),
}
USES = {
    "mutex": (
        "pthread_mutex_lock(&o); pthread_mutex_unlock(&o);",
        "if (pthread_mutex_trylock(&o) == 0) pthread_mutex_unlock(&o);",
        "if (pthread_mutex_timedlock(&o, &time_limit) == 0) pthread_mutex_unlock(&o);",
        "pthread_mutex_destroy(&o);",
    ),
    "spin lock": ("pthread_spin_lock(&o); pthread_spin_unlock(&o);", "pthread_spin_destroy(&o);"),
    "read-write lock": (
        "pthread_rwlock_rdlock(&o); pthread_rwlock_unlock(&o);",
        "pthread_rwlock_wrlock(&o); pthread_rwlock_unlock(&o);",
        "if (pthread_rwlock_tryrdlock(&o) == 0) pthread_rwlock_unlock(&o);",
        "if (pthread_rwlock_trywrlock(&o) == 0) pthread_rwlock_unlock(&o);",
        "pthread_rwlock_destroy(&o);",
    ),
    "condition variable": (
        "pthread_cond_signal(&o);",
        "pthread_cond_broadcast(&o);",
        "pthread_mutex_lock(&m); pthread_cond_timedwait(&o, &m, &time_limit); pthread_mutex_unlock(&m);",
        "pthread_cond_destroy(&o);",
    ),
    "semaphore": (
        "sem_wait(&o);",
        "sem_post(&o);",
        "sem_trywait(&o);",
        "int v; sem_getvalue(&o, &v);",
        "sem_destroy(&o);",
    ),
    "barrier": ("pthread_barrier_wait(&o);", "pthread_barrier_destroy(&o);"),
    "c11 mutex": (
        "mtx_lock(&o); mtx_unlock(&o);",
        "if (mtx_trylock(&o) == thrd_success) mtx_unlock(&o);",
        "mtx_destroy(&o);",
    ),
    "c11 condition variable": ("cnd_signal(&o);", "cnd_broadcast(&o);", "cnd_destroy(&o);"),
}


def life(kind: str, main: str, thread: str = "") -> str:
    return f"""{HEAD}{OBJECTS}
{LIVES[kind][0]} static atomic_int y;
static void *work(void *unused) {{ atomic_store(&y, 1); {thread} return 0; }}
int main(void) {{ pthread_t t; {main} return 0; }}"""


@pytest.mark.parametrize(("kind", "use"), [(kind, use) for kind in USES for use in USES[kind]])
def test_a_destroyed_object_must_not_be_used(kind: str, use: str) -> None:
    _, initialise, destroy = LIVES[kind]
    said = f"use of a destroyed {kind.removeprefix('c11 ')}: o"
    start, join = "pthread_create(&t, 0, work, 0);", "pthread_join(t, 0);"
    alone = c_program(life(kind, f"{initialise} {destroy} {use}"))
    assert verdicts(alone) == dict.fromkeys(MODELS, ("violated", said))
    meanwhile = verdicts(c_program(life(kind, f"{initialise} {start} {destroy} {join}", use)))
    assert {verdict for verdict, _ in meanwhile.values()} == {"violated"}
    after = c_program(life(kind, f"{initialise} {start} {join} {destroy}", use if "destroy" not in use else ""))
    assert words(after) == everywhere("holds")
    again = "" if "destroy" in use else f"{use} {destroy}"
    assert words(c_program(life(kind, f"{initialise} {destroy} {initialise} {again}"))) == everywhere("holds")


@pytest.mark.parametrize(
    ("kind", "take"),
    [
        ("mutex", "pthread_mutex_lock(&o);"),
        ("spin lock", "pthread_spin_lock(&o);"),
        ("read-write lock", "pthread_rwlock_rdlock(&o);"),
        ("read-write lock", "pthread_rwlock_wrlock(&o);"),
        ("c11 mutex", "mtx_lock(&o);"),
    ],
)
def test_a_lock_that_is_taken_must_not_be_destroyed(kind: str, take: str) -> None:
    _, initialise, destroy = LIVES[kind]
    found = verdicts(c_program(life(kind, f"{initialise} {take} {destroy}")))
    said = f"destruction of a locked {kind.removeprefix('c11 ')}: o"
    assert found == dict.fromkeys(MODELS, ("violated", said))


def test_a_condition_variable_may_be_destroyed_once_all_are_woken() -> None:
    text = f"""{HEAD}{POSIX}
static int go;
static void *waits(void *unused) {{ LOCK; while (!go) pthread_cond_wait(&c, &m); UNLOCK; return 0; }}
int main(void) {{
    pthread_t t;
    pthread_create(&t, 0, waits, 0);
    LOCK; go = 1; WAKE pthread_cond_destroy(&c); UNLOCK;
    pthread_join(t, 0);
    return 0;
}}"""
    models = (*WITH_STATES, "x86")
    assert words(c_program(text.replace("WAKE", "BROADCAST;")), models) == everywhere("holds", models)
    assert words(c_program(text.replace("WAKE", ""))) == everywhere("violated")


def test_the_destructor_of_a_mutex_of_cpp_ends_its_life() -> None:
    text = """
#include <mutex>
#include <thread>
struct Holder { std::mutex m; };
int main() {
    Holder *h = new Holder;
    std::thread t([h] { std::lock_guard<std::mutex> l(h->m); });
    BEFORE delete h; AFTER
}"""
    early, late = text.replace("BEFORE", "").replace("AFTER", "t.join();"), text.replace("BEFORE", "t.join();")
    assert words(c_program(late.replace("AFTER", ""), "test.cpp"), WITH_STATES) == everywhere("holds", WITH_STATES)
    found = verdicts(c_program(early, "test.cpp"), WITH_STATES)
    assert {verdict for verdict, _ in found.values()} == {"violated"}


def test_the_models_of_events_refuse_no_condition_variable() -> None:
    assert "unknown" not in words(c_program(hand_over("pthread_cond_wait(&c, &m)", "while")), OF_EVENTS).values()


def test_what_a_function_does_is_followed_for_each_object_that_a_pointer_may_be() -> None:
    text = f"""{HEAD}
static atomic_int x;
static sem_t s[2];
static void *chooses(void *unused) {{ x = 1; return unused; }}
int main(void) {{
    pthread_t t;
    pthread_create(&t, 0, chooses, 0);
    int which = x;
    sem_init(&s[0], 0, 0); sem_init(&s[1], 0, 0);
    assert(sem_trywait(&s[which]) RESULT);
    pthread_join(t, 0);
    return 0;
}}"""
    assert words(c_program(text.replace("RESULT", "== -1")), WITH_STATES) == everywhere("holds", WITH_STATES)
    assert words(c_program(text.replace("RESULT", "== 0"))) == everywhere("violated")
