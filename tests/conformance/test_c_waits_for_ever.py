"""C programs that wait: who waits for ever, and who does not, by models of events.

Compare-exchanges of every pair of orders, strong and weak, in a spin lock, in a `once` and alone; loops of every shape;
every operation of the library that blocks; assumptions and ends of the program.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import pytest

from memfence.program.ir import Program, Rmw
from memfence.program.orders import MemoryOrder
from support.c_compiler import needs_clang
from support.c_verdicts import OF_EVENTS, WITH_STATES, c_program, everywhere, verdicts, words

pytestmark = needs_clang

SUCCESS = (
    MemoryOrder.RELAXED,
    MemoryOrder.ACQUIRE,
    MemoryOrder.RELEASE,
    MemoryOrder.ACQ_REL,
    MemoryOrder.SEQ_CST,
)
FAILURE = (MemoryOrder.RELAXED, MemoryOrder.ACQUIRE, MemoryOrder.SEQ_CST)
PAIRS = tuple(product(SUCCESS, FAILURE))
HOLDS, WAITS = everywhere("holds", OF_EVENTS), everywhere("violated", OF_EVENTS)

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
void __VERIFIER_assume(int);
static atomic_int x, y;
static int seen(atomic_int *v) { int n = atomic_load_explicit(v, memory_order_acquire); return n; }
static int seen_until(atomic_int *v, int n) { int last = n, o = 0; while ((o = seen(v)) != n) last = o; return last; }
#define LOAD(v) atomic_load_explicit(&v, memory_order_relaxed)
#define STORE(v, n) atomic_store_explicit(&v, n, memory_order_relaxed)
"""
BODIES = {
    "spin lock": "int e; do e = 0; while (!CAS(&x, &e, 1)); atomic_store_explicit(&x, 0, memory_order_release);",
    "once": "int e = 0; if (CAS(&x, &e, 1)) atomic_store(&x, 2); else while (atomic_load(&x) != 2) ;",
    "single shot": "int e = 0; CAS(&x, &e, 1);",
}


def threads(*bodies: str, end: str = "") -> str:
    functions = "".join(f"static void *t{n}(void *u) {{ {body} return 0; }}\n" for n, body in enumerate(bodies))
    creating = "".join(f"pthread_create(&t[{n}], 0, t{n}, 0);" for n in range(len(bodies)))
    joining = "".join(f"pthread_join(t[{n}], 0);" for n in range(len(bodies)))
    return f"{functions}int main(void) {{ pthread_t t[{len(bodies)}]; {creating} {joining} {end} return 0; }}"


@cache
def exchanging(kind: str, body: str) -> Program:
    macro = f"#define CAS(p, e, d) atomic_compare_exchange_{kind}_explicit(p, e, d, SUCCESS, FAILURE)\n"
    orders = "#define SUCCESS memory_order_acquire\n#define FAILURE memory_order_relaxed\n"
    return c_program(HEAD + orders + macro + threads(BODIES[body], BODIES[body]))


def with_orders(program: Program, success: MemoryOrder, failure: MemoryOrder) -> Program:
    """The program as if its compare-exchanges had been written with these orders."""

    def changed(op: object) -> object:
        is_exchange = isinstance(op, Rmw) and op.kind == "compare_exchange"
        return replace(op, order=success, failure_order=failure) if is_exchange else op  # type: ignore[type-var]

    return replace(
        program,
        processes=tuple(
            replace(
                process,
                transitions=tuple(replace(t, ops=tuple(map(changed, t.ops))) for t in process.transitions),  # type: ignore[arg-type]
            )
            for process in program.processes
        ),
    )


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("kind", ["strong", "weak"])
def test_nobody_waits_for_ever_for_a_compare_exchange_of_any_orders(kind: str, body: str) -> None:
    program = exchanging(kind, body)
    nobody_begins = (kind, body) == ("weak", "once")  # both may fail spuriously, and then each waits for the other
    for success, failure in PAIRS:
        found = words(with_orders(program, success, failure), OF_EVENTS)
        assert found == (WAITS if nobody_begins else HOLDS), (success, failure)


@pytest.mark.parametrize("kind", ["strong", "weak"])
def test_a_lock_that_is_never_given_back_is_waited_for_for_ever(kind: str) -> None:
    orders = "memory_order_acquire, memory_order_relaxed"
    macro = f"#define CAS(p, e) atomic_compare_exchange_{kind}_explicit(p, e, 1, {orders})\n"
    body = "int e; do e = 0; while (!CAS(&x, &e));"
    found = verdicts(c_program(HEAD + macro + threads(body, body)), OF_EVENTS)
    assert {verdict for verdict, _ in found.values()} == {"violated"}
    assert all("wait" in reason for _, reason in found.values())


HOLDING = {
    "the condition is tested before the load of the same round": (
        "int t = atomic_fetch_add(&x, 1); seen_until(&y, t); STORE(y, LOAD(y) + 1);",
    )
    * 2,
    "a failure brings the expected value up to date": (
        "int v = 0; while (!atomic_compare_exchange_strong_explicit(&x, &v, v + 1, memory_order_acquire, "
        "memory_order_relaxed)) ;",
    )
    * 2,
    "a loop within a loop": (
        "int e; do { while (LOAD(x)) ; e = 0; } while (!atomic_compare_exchange_strong(&x, &e, 1)); STORE(x, 0);",
    )
    * 2,
    "two loops that wait for each other in turn": (
        "STORE(x, 1); while (LOAD(y) != 1) ; STORE(x, 2);",
        "while (LOAD(x) != 1) ; STORE(y, 1); while (LOAD(x) != 2) ;",
    ),
    "a false assumption": ("__VERIFIER_assume(LOAD(x) == 1);", "STORE(x, 1);"),
    "an assumption that is never true": ("__VERIFIER_assume(LOAD(x) == 2);", "STORE(x, 1);"),
    "others wait when the assumption is false": ("__VERIFIER_assume(0); STORE(x, 1);", "while (!LOAD(x)) ;"),
    "others wait when the program ends": ("if (!LOAD(x)) exit(0);", "while (LOAD(x) != 1) ;"),
}
WAITING = {
    "a flag that nobody sets": ("while (!LOAD(x)) ;", "STORE(y, 1);"),
    "a flag that is taken back": ("while (!LOAD(x)) ;", "STORE(x, 1); STORE(x, 0);"),
    "each for the other": ("while (!LOAD(x)) ; STORE(y, 1);", "while (!LOAD(y)) ; STORE(x, 1);"),
    "a loop without a condition": ("for (;;) ;", "STORE(x, 1);"),
    "an assumption that was true before": ("__VERIFIER_assume(!LOAD(y)); while (!LOAD(x)) ;", "STORE(y, 1);"),
}


@pytest.mark.parametrize("shape", HOLDING)
def test_nobody_waits_for_ever(shape: str) -> None:
    assert words(c_program(HEAD + threads(*HOLDING[shape])), OF_EVENTS) == HOLDS


ENDING = (
    "a false assumption",
    "an assumption that is never true",
    "others wait when the assumption is false",
    "others wait when the program ends",
)


@pytest.mark.parametrize("shape", ENDING)
def test_a_run_that_is_over_is_no_deadlock_to_models_with_states(shape: str) -> None:
    found = words(c_program(HEAD + threads(*HOLDING[shape])), WITH_STATES)
    assert found == everywhere("holds", WITH_STATES)


def test_a_thread_that_spins_when_main_returns_waits_for_nothing() -> None:
    text = (
        HEAD
        + """
static void *spins(void *u) { while (!LOAD(x)) ; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, spins, 0); return 0; }"""
    )
    models = (*WITH_STATES, *OF_EVENTS)
    assert words(c_program(text), models) == everywhere("holds", models)


@pytest.mark.parametrize("shape", WAITING)
def test_somebody_waits_for_ever(shape: str) -> None:
    assert words(c_program(HEAD + threads(*WAITING[shape])), OF_EVENTS) == WAITS


def test_what_fails_before_an_assumption_is_false_counts() -> None:
    text = HEAD + threads("__VERIFIER_assume(LOAD(x) == 1);", "assert(LOAD(y) == 1);")
    found = verdicts(c_program(text), OF_EVENTS)
    assert {reason for _, reason in found.values()} == {"assertion violated"}


TAKING = {
    "pthread_mutex_lock": ("pthread_mutex_t m;", "", "pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"),
    "pthread_spin_lock": (
        "pthread_spinlock_t m;",
        "pthread_spin_init(&m, 0);",
        "pthread_spin_lock(&m);",
        "pthread_spin_unlock(&m);",
    ),
    "sem_wait": ("sem_t m;", "sem_init(&m, 0, 1);", "sem_wait(&m);", "sem_post(&m);"),
    "pthread_rwlock_wrlock": ("pthread_rwlock_t m;", "", "pthread_rwlock_wrlock(&m);", "pthread_rwlock_unlock(&m);"),
}
MEETING = {
    "pthread_rwlock_rdlock": (
        "pthread_rwlock_t m; static int n;",
        (
            "pthread_rwlock_wrlock(&m); n++; pthread_rwlock_unlock(&m);",
            "pthread_rwlock_rdlock(&m); pthread_rwlock_unlock(&m);",
        ),
        ("pthread_rwlock_wrlock(&m);", "pthread_rwlock_rdlock(&m);"),
    ),
    "pthread_cond_wait": (
        "pthread_mutex_t m; static pthread_cond_t c; static int n;",
        (
            "pthread_mutex_lock(&m); while (!n) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);",
            "pthread_mutex_lock(&m); n = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);",
        ),
        (
            "pthread_mutex_lock(&m); while (!n) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);",
            "pthread_mutex_lock(&m); n = 1; pthread_mutex_unlock(&m);",
        ),
    ),
    "pthread_barrier_wait": (
        "pthread_barrier_t m;",
        ("pthread_barrier_init(&m, 0, 1); pthread_barrier_wait(&m);", ""),
        ("pthread_barrier_init(&m, 0, 2); pthread_barrier_wait(&m);", ""),
    ),
}


def blocking(call: str, *, gives: bool) -> Program:
    if call in MEETING:
        declared, holding, waiting = MEETING[call]
        return c_program(f"{HEAD}static {declared}\n" + threads(*(holding if gives else waiting)))
    declared, prepared, take, give = TAKING[call]
    body = f"{take} n++; {give if gives else ''}"
    text = f"{HEAD}static {declared} static int n;\n" + threads(body, body)
    return c_program(text.replace("pthread_t t", f"{prepared} pthread_t t"))


@pytest.mark.parametrize("call", [*TAKING, *MEETING])
def test_whoever_is_blocked_goes_on_when_others_give_back(call: str) -> None:
    assert {*words(blocking(call, gives=True), OF_EVENTS).values()} <= {"holds", "holds_up_to"}


@pytest.mark.parametrize("call", [*TAKING, *MEETING])
def test_whoever_is_blocked_waits_for_ever_when_nobody_gives_back(call: str) -> None:
    assert words(blocking(call, gives=False), OF_EVENTS) == WAITS


def test_a_thread_that_is_never_created_waits_for_nothing() -> None:
    text = (
        HEAD
        + """
static void *late(void *u) { STORE(y, 1); return 0; }
static void *sets(void *u) { STORE(x, 1); return 0; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, sets, 0);
    if (LOAD(x)) { pthread_create(&b, 0, late, 0); pthread_join(b, 0); }
    pthread_join(a, 0);
    return 0;
}"""
    )
    assert words(c_program(text), OF_EVENTS) == HOLDS
