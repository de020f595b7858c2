"""C programs and what is found in them: errors with a run, proofs of endless loops, threads, pointers, the library."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence import pipeline
from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.frontends.c import clang
from memfence.frontends.c.load import load
from memfence.program.load_options import COptions, LoadOptions
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult
from support.c_compiler import needs_clang

pytestmark = needs_clang

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
"""


def checked(body: str, model: str = "sc", *, path: str = "test.c", **options: object) -> CheckResult:
    source = SourceText(path, HEAD + body)
    program = pipeline.load_text(source, LoadOptions(c=COptions(**options)))  # type: ignore[arg-type]
    return check(program, CheckOptions(model=model, criterion="safety"))  # type: ignore[arg-type]


def two_threads(shared: str, first: str, second: str, end: str = "") -> str:
    return f"""
{shared}
static void *one(void *u) {{ {first} return 0; }}
static void *two(void *u) {{ {second} return 0; }}
int main(void) {{
    pthread_t t1, t2;
    pthread_create(&t1, 0, one, 0); pthread_create(&t2, 0, two, 0);
    pthread_join(t1, 0); pthread_join(t2, 0);
    {end}
    return 0;
}}"""


FINDINGS = {
    "null pointer dereference": two_threads("int *volatile p; int x;", "p = &x;", "*p = 1;"),
    "index outside of its array": two_threads("volatile int i; int a[2];", "i = 2;", "a[i] = 1;"),
    "out of bounds": two_threads("volatile int i; int a[2];", "i = 2;", "int *p = a; p[i] = 1;"),
    "signed integer overflow": two_threads(
        "volatile int i = 2147483646;", "i = 2147483647;", "int j = i + 1; (void)j;"
    ),
    "division by zero": two_threads("volatile int i = 1;", "i = 0;", "int j = 4 / i; (void)j;"),
    "use of freed memory": two_threads(
        "struct s { int v; }; struct s *volatile p;", "free(p);", "if (p) p->v = 1;"
    ).replace("pthread_t t1, t2;", "pthread_t t1, t2; p = malloc(sizeof *p);"),
    "double free": two_threads("void *volatile p;", "free(p);", "free(p);").replace(
        "pthread_t t1, t2;", "pthread_t t1, t2; p = malloc(4);"
    ),
    "unlock of a mutex": two_threads(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;", "pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"
    ),
    "call of something that is no function": two_threads(
        "int f(void) { return 1; } int (*volatile call)(void);", "call = f;", "call();"
    ),
}


@pytest.mark.parametrize("finding", FINDINGS)
def test_errors_are_found_with_a_run(finding: str) -> None:
    result = checked(FINDINGS[finding])
    assert result.verdict is Verdict.VIOLATED
    assert result.trace is not None and result.trace.failure is not None
    assert finding in result.trace.failure.reason


def test_two_mutexes_in_opposite_order_deadlock() -> None:
    take = "pthread_mutex_lock(&{0}); pthread_mutex_lock(&{1}); pthread_mutex_unlock(&{1}); pthread_mutex_unlock(&{0});"
    shared = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;"
    assert checked(two_threads(shared, take.format("m", "n"), take.format("n", "m"))).verdict is Verdict.VIOLATED
    assert checked(two_threads(shared, take.format("m", "n"), take.format("m", "n"))).verdict is Verdict.HOLDS


SPIN_LOCK = two_threads(
    "atomic_int lock; int inside;",
    "for (;;) { while (atomic_exchange(&lock, 1)) ; int b = inside; inside = 1; assert(!b); inside = 0;"
    " atomic_store_explicit(&lock, 0, memory_order_release); }",
    "for (;;) { while (atomic_exchange(&lock, 1)) ; int b = inside; inside = 1; assert(!b); inside = 0;"
    " atomic_store_explicit(&lock, 0, memory_order_release); }",
)


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_a_spin_lock_is_proved_for_endless_loops(model: str) -> None:
    assert checked(SPIN_LOCK, model).verdict is Verdict.HOLDS


@pytest.mark.parametrize(("model", "verdict"), [("sc", Verdict.HOLDS), ("tso", Verdict.VIOLATED)])
def test_store_buffering_is_seen_under_tso_only(model: str, verdict: Verdict) -> None:
    body = two_threads("volatile int x, y; int a, b;", "x = 1; a = y;", "y = 1; b = x;", "assert(a || b);")
    assert checked(body, model).verdict is verdict


@pytest.mark.parametrize("order", ["seq_cst", "release"])
def test_only_a_sequentially_consistent_store_is_a_fence(order: str) -> None:
    store = f"atomic_store_explicit(&{{0}}, 1, memory_order_{order});"
    load_other = "atomic_load_explicit(&{0}, memory_order_acquire)"
    body = two_threads(
        "atomic_int x, y; int a, b;",
        store.format("x") + "a = " + load_other.format("y") + ";",
        store.format("y") + "b = " + load_other.format("x") + ";",
        "assert(a || b);",
    )
    assert checked(body, "tso").verdict is (Verdict.HOLDS if order == "seq_cst" else Verdict.VIOLATED)


def test_threads_of_a_loop_get_their_arguments() -> None:
    body = """
atomic_int sum;
static void *work(void *n) { atomic_fetch_add(&sum, *(int *)n); return 0; }
int main(void) {
    pthread_t t[3]; int n[3];
    for (int i = 0; i < 3; i++) { n[i] = 1 << i; pthread_create(&t[i], 0, work, &n[i]); }
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    assert(sum == 7);
    return 0;
}"""
    result = checked(body)
    assert result.verdict is Verdict.HOLDS
    assert [p.name for p in result.program.processes] == ["main", "work#1", "work#2", "work#3"]


def test_results_of_threads_are_joined() -> None:
    body = """
static void *work(void *n) { return (void *)((long)n + 1); }
int main(void) {
    pthread_t t; void *result;
    pthread_create(&t, 0, work, (void *)41);
    pthread_join(t, &result);
    assert((long)result == 42);
    return 0;
}"""
    assert checked(body).verdict is Verdict.HOLDS


def test_a_loop_that_creates_threads_without_end_is_cut_off_and_says_so() -> None:
    body = """
atomic_int x;
static void *work(void *n) { x++; return 0; }
int main(void) { pthread_t t; for (;;) pthread_create(&t, 0, work, 0); }"""
    result = checked(body, threads_bound=2)
    program = result.program
    assert result.verdict is Verdict.HOLDS_UP_TO
    assert len(program.processes) == 3
    assert any("--threads-bound" in note for note in program.notes)


def test_recursion_and_function_pointers_are_followed() -> None:
    body = """
static int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
static int twice(int n) { return 2 * n; }
static int (*table[])(int) = {factorial, twice};
volatile int which = 1;
static void *change(void *u) { which = 0; return 0; }
int main(void) {
    pthread_t t; pthread_create(&t, 0, change, 0);
    int r = table[which](4);
    assert(r == 24 || r == 8);
    return 0;
}"""
    assert checked(body).verdict is Verdict.HOLDS


WAITING = {
    "semaphore": two_threads(
        "sem_t s; int data;", "data = 1; sem_post(&s);", "sem_wait(&s); assert(data == 1);"
    ).replace("pthread_t t1, t2;", "pthread_t t1, t2; sem_init(&s, 0, 0);"),
    "condition variable": two_threads(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready;",
        "pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);",
    ),
    "barrier": two_threads(
        "pthread_barrier_t b; int x, y;",
        "x = 1; pthread_barrier_wait(&b); assert(y == 1);",
        "y = 1; pthread_barrier_wait(&b); assert(x == 1);",
    ).replace("pthread_t t1, t2;", "pthread_t t1, t2; pthread_barrier_init(&b, 0, 2);"),
    "read-write lock": two_threads(
        "pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; int x, y;",
        "pthread_rwlock_wrlock(&l); x = 1; y = 1; pthread_rwlock_unlock(&l);",
        "pthread_rwlock_rdlock(&l); assert(x == y); pthread_rwlock_unlock(&l);",
    ),
    "once": two_threads(
        "pthread_once_t o = PTHREAD_ONCE_INIT; int n; static void init(void) { n++; }",
        "pthread_once(&o, init); assert(n == 1);",
        "pthread_once(&o, init); assert(n == 1);",
    ),
}


@pytest.mark.parametrize("what", WAITING)
@pytest.mark.parametrize("model", ["sc", "tso"])
def test_waiting_is_understood(what: str, model: str) -> None:
    assert checked(WAITING[what], model).verdict is Verdict.HOLDS


def test_a_signal_that_nobody_waits_for_is_lost() -> None:
    body = two_threads(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER;",
        "pthread_mutex_lock(&m); pthread_cond_signal(&c); pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);",
    )
    assert checked(body).verdict is Verdict.VIOLATED


def test_cells_have_the_names_of_the_source() -> None:
    body = two_threads(
        "struct slot { atomic_int seq; int value; }; struct slot slots[3]; struct { atomic_int head; } q;",
        "atomic_store(&slots[2].seq, 1); atomic_store(&q.head, 1);",
        "while (!atomic_load(&slots[2].seq)) ; while (!atomic_load(&q.head)) ;",
    )
    names = {variable.name for variable in checked(body).program.variables}
    assert {"slots[2].seq", "q.head"} <= names


def test_several_files_are_one_program(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(
        HEAD
        + "void *work(void *); extern atomic_int x;\n"
        + """
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); assert(x == 3); return 0; }"""
    )
    (tmp_path / "work.c").write_text(HEAD + "atomic_int x; void *work(void *u) { x = 3; return u; }")
    program = load([tmp_path / "main.c", tmp_path / "work.c"])
    assert [p.name for p in program.processes] == ["main", "work"]


def test_cpp_threads_and_atomics_are_read() -> None:
    body = """
#include <atomic>
#include <thread>
#include <cassert>
std::atomic<int> x{0}, y{0}; int a, b;
int main() {
    std::thread t1([] { x.store(1); a = y.load(); });
    std::thread t2([] { y.store(1); b = x.load(); });
    t1.join(); t2.join(); assert(a || b);
}"""
    program = pipeline.load_text(SourceText("test.cpp", body))
    assert check(program, CheckOptions(model="tso", criterion="safety")).verdict is Verdict.HOLDS


def test_without_clang_the_error_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clang.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(InputError) as error:
        checked("int main(void) { return 0; }")
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code is Code.NO_COMPILER and diagnostic.code.id == "MF007"
    assert diagnostic.hint == "pip install ziglang tree-sitter tree-sitter-c tree-sitter-cpp"


def test_a_compiler_that_does_not_exist_is_named() -> None:
    with pytest.raises(InputError) as error:
        checked("int main(void) { return 0; }", clang="/no/such/clang")
    assert "/no/such/clang" in error.value.diagnostics[0].message


def test_a_run_that_is_cut_off_is_no_deadlock() -> None:
    """Only so many calls are open at once: whoever gets beyond stops there, and nobody else is to blame."""
    text = "_Atomic int n; static int deep(void) { return n < 300 ? deep() + 1 : 0; }"
    result = checked(two_threads(text, "n = 1; while (n != 2);", "deep(); n = 2;", ""))
    assert result.verdict is Verdict.HOLDS_UP_TO
    assert any("--recursion-bound" in note for note in result.program.notes)
