"""Small C and C++ programs in which a reading of the code that is nearly right gives the wrong verdict."""

from __future__ import annotations

import pytest

from memfence import pipeline
from memfence.diagnostics import InputError
from memfence.frontends.c.machine.value_sets import ADDRESS_BASE
from memfence.program.load_options import LoadOptions
from memfence.questions import check
from memfence.report.words.coverage import assumptions
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang

pytestmark = needs_clang

HEAD = """
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#define THREAD(name) static void *name(void *unused)
#define RUN(f, g) pthread_t t1, t2; pthread_create(&t1, 0, f, 0); pthread_create(&t2, 0, g, 0); \\
    pthread_join(t1, 0); pthread_join(t2, 0);
"""

H, V = Verdict.HOLDS, Verdict.VIOLATED

STORE_BUFFERING = """
volatile int x, y; int r, s; {globals}
THREAD(a) {{ {begin} x = 1; {between} r = y; return 0; }}
THREAD(b) {{ {begin_b} y = 1; {between_b} s = x; return 0; }}
int main(void) {{ {start} RUN(a, b) assert(r || s); }}
"""


def store_buffering(between: str, between_b: str, *, shared: str = "", begin: str = "", start: str = "") -> str:
    return STORE_BUFFERING.format(
        globals=shared, between=between, between_b=between_b, begin=begin, begin_b=begin, start=start
    )


SHARED_DIVISION = """
volatile int n = INT_MIN, d = 1;
THREAD(a) { d = -%d; return 0; }
THREAD(b) { int q = n %s d; n = q; return 0; }
int main(void) { RUN(a, b) }
"""

STRUCT = """
struct pair { long a, b; } x, y;
THREAD(a) { struct pair k = {1, 1}; x = k; return 0; }
THREAD(b) { struct pair z = x; %s return 0; }
int main(void) { RUN(a, b) %s }
"""

CASES: dict[str, tuple[str, Verdict, Verdict]] = {
    "a place that is never reached is reached": (
        "volatile int x; THREAD(a) { x = 1; return 0; } THREAD(b) { if (x) __builtin_unreachable(); return 0; }"
        "int main(void) { RUN(a, b) }",
        V,
        V,
    ),
    "the least integer divided by -1": (SHARED_DIVISION % (1, "/"), V, V),
    "the remainder of the least integer and -1": (SHARED_DIVISION % (1, "%"), V, V),
    "the least integer divided by -2": (SHARED_DIVISION % (2, "/"), H, H),
    "a struct that is only copied reaches the other thread": (STRUCT % ("assert(z.a == 0);", ""), V, V),
    "a copy of a struct is torn": (STRUCT % ("assert(z.a == z.b);", ""), V, V),
    "a struct is copied twice": (STRUCT % ("", "struct pair z; y = x; z = y; assert(z.a == 1 && z.b == 1);"), H, H),
    "an array is set while it is copied": (
        "char x[16], y[16]; THREAD(a) { memset(x, 1, 16); return 0; } THREAD(b) { memcpy(y, x, 16); return 0; }"
        "int main(void) { RUN(a, b) assert(y[0] == y[15]); }",
        V,
        V,
    ),
    "a thread that waits for itself": (
        "THREAD(a) { pthread_join(pthread_self(), 0); return 0; }"
        "int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_join(t, 0); }",
        V,
        V,
    ),
    "a mutex is taken twice by one thread": (
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;"
        "THREAD(a) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0; }"
        "int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_join(t, 0); }",
        V,
        V,
    ),
    "a second join returns at once": (
        "THREAD(a) { return 0; }"
        "int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_join(t, 0); pthread_join(t, 0); }",
        H,
        H,
    ),
    "what a thread keeps for a key": (
        "pthread_key_t k; THREAD(a) { assert(!pthread_getspecific(k)); int v; pthread_setspecific(k, &v);"
        " assert(pthread_getspecific(k) == &v); return 0; }"
        "int main(void) { pthread_key_create(&k, 0); RUN(a, a) }",
        H,
        H,
    ),
    "a struct by value is a copy": (
        "struct s { long a, b, c; }; static long f(struct s v) { v.a++; return v.a + v.c; }"
        "THREAD(a) { struct s q = {1, 2, 3}; assert(f(q) == 5); assert(q.a == 1); return 0; }"
        "int main(void) { RUN(a, a) }",
        H,
        H,
    ),
    "an array whose length is computed": (
        "volatile int x; THREAD(a) { x = 2; return 0; }"
        "THREAD(b) { int n = 3; int v[n]; v[2] = x; assert(v[2] == 0 || v[2] == 2); return 0; }"
        "int main(void) { RUN(a, b) }",
        H,
        H,
    ),
    "an atomic pointer is moved": (
        "int z[4]; _Atomic(int *) p = z; THREAD(a) { p++; return 0; }"
        "THREAD(b) { atomic_fetch_add(&p, 2); return 0; } int main(void) { RUN(a, b) assert(p - z == 3); }",
        H,
        H,
    ),
    "a mutex of one thread drains its buffer": (
        store_buffering(
            "pthread_mutex_lock(&m); pthread_mutex_unlock(&m);",
            "pthread_mutex_lock(&n); pthread_mutex_unlock(&n);",
            shared="pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;",
        ),
        H,
        H,
    ),
    "the unlock of a spin lock is a store": (
        store_buffering(
            "pthread_spin_unlock(&m);",
            "pthread_spin_unlock(&n);",
            shared="pthread_spinlock_t m, n;",
            start="pthread_spin_init(&m, 0); pthread_spin_init(&n, 0);",
        )
        .replace("x = 1;", "pthread_spin_lock(&m); x = 1;")
        .replace("y = 1;", "pthread_spin_lock(&n); y = 1;"),
        H,
        V,
    ),
    "to initialise is to store": (
        store_buffering("pthread_mutex_t m; pthread_mutex_init(&m, 0);", "sem_t q; sem_init(&q, 0, 1);"),
        H,
        V,
    ),
    "what was done once is seen by a load": (
        store_buffering(
            "pthread_once(&o, f);",
            "pthread_once(&o, f);",
            shared="pthread_once_t o = PTHREAD_ONCE_INIT; static void f(void) {}",
            begin="pthread_once(&o, f);",
        ),
        H,
        V,
    ),
}


def verdict_of(text: str, model: str, path: str = "test.c") -> Verdict:
    program = pipeline.load_text(SourceText(path, text), LoadOptions())
    return check(program, CheckOptions(model=model, criterion="safety")).verdict  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_is_that_of_the_processor(name: str) -> None:
    text, sc, tso = CASES[name]
    assert (verdict_of(HEAD + text, "sc"), verdict_of(HEAD + text, "tso")) == (sc, tso)


CPP = """
#include <condition_variable>
#include <mutex>
#include <thread>
"""

CPP_CASES = {
    "a condition variable releases the mutex of its lock": (
        "std::mutex m; std::condition_variable c; bool ready;"
        "static void wait() { std::unique_lock<std::mutex> l(m); c.wait(l, [] { return ready; }); }"
        "int main() { std::thread t(wait); { std::lock_guard<std::mutex> l(m); ready = true; }"
        " c.notify_one(); t.join(); }",
        H,
    ),
    "a thread that nobody joins": ("int main() { std::thread t([] {}); }", V),
    "a thread that is detached": ("int main() { std::thread t([] {}); t.detach(); }", H),
    "a function that returns nothing": ("int f(int x) { if (x) return 1; } int main() { return f(0); }", V),
}


@pytest.mark.parametrize("name", CPP_CASES)
def test_the_verdict_is_that_of_cpp(name: str) -> None:
    text, verdict = CPP_CASES[name]
    assert verdict_of(CPP + text, "sc", "test.cc") is verdict


REFUSED = {
    "an array with several lengths": (
        "volatile int x; static int f(int n) { int v[n]; v[n - 1] = x; return v[n - 1]; }"
        "THREAD(a) { x = 1; return 0; } THREAD(b) { return (void *)(long)(f(3) + f(5)); } int main(void) { RUN(a, b) }",
        "several lengths",
    ),
    "a struct by value at an unknown address": (
        "struct s { long a, b, c; } x, y, *_Atomic p = &x; static long f(struct s v) { return v.a; }"
        "THREAD(a) { p = &y; return 0; } THREAD(b) { return (void *)f(*p); } int main(void) { RUN(a, b) }",
        "passed by value",
    ),
    "a number that may be anything is a pointer": (
        "_Atomic long n; THREAD(a) { for (;;) n = n * 3 + 1; return 0; }"
        "THREAD(b) { return (void *)(long)*(int *)n; } int main(void) { RUN(a, b) }",
        "may point anywhere",
    ),
    "a destructor of thread-specific data": (
        "pthread_key_t k; static void f(void *p) {} int main(void) { pthread_key_create(&k, f); }",
        "destructor",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_followed_is_refused_by_name(name: str) -> None:
    text, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        verdict_of(HEAD + text, "sc")


def test_that_freed_memory_is_not_given_out_again_is_said() -> None:
    text = HEAD + "int *volatile p; THREAD(a) { %s return 0; } int main(void) { p = malloc(4); RUN(a, a) }"
    for body, is_said in (("free(p);", True), ("", False)):
        program = pipeline.load_text(SourceText("test.c", text % body), LoadOptions())
        assert any("malloc" in line for line in assumptions(program, "tso")) is is_said


def test_a_clock_that_stands_still_bounds_the_verdict() -> None:
    text = "#include <assert.h>\n#include <time.h>\nint main(void) { assert(time(0) == 0); }"
    assert verdict_of(text, "sc") is Verdict.HOLDS_UP_TO


@pytest.mark.parametrize(
    ("used", "verdict"),
    [
        ("q == (long)&z", Verdict.HOLDS),
        (f"q == (long)&z || q > {ADDRESS_BASE + 10}", Verdict.HOLDS_UP_TO),
        ("q == (long)&z || q > 0", Verdict.VIOLATED),
    ],
)
def test_a_number_that_may_be_any_address_is_not_followed_and_one_that_is_none_is_an_error(
    used: str, verdict: Verdict
) -> None:
    text = (
        "int z; volatile long p;"
        "THREAD(a) { long n = 0; p = (long)&z; for (;;) p = n = (n + 409600) % (70 * 409600); return 0; }"
        f"THREAD(b) {{ long q = p; if ({used}) *(volatile int *)q = 1; return 0; }} int main(void) {{ RUN(a, b) }}"
    )
    assert verdict_of(HEAD + text, "sc") is verdict
