"""Compiled programs under RC11: how many executions they have, and what is found in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.api.run import run
from memfence.questions.run_result import RunResult
from memfence.tasks.answer import Verdict
from memfence.tasks.usage import WrongUsage
from support.run_programs import HEAD, two_threads
from support.run_programs import run_text as run_with

RELAXED = "memory_order_relaxed"


def run_text(folder: Path, text: str, name: str = "program.c", **options: object) -> RunResult:
    return run_with(folder, text, name, model="rc11", **options)


def executions(result: RunResult) -> int:
    assert result.verdict is Verdict.HOLDS and result.is_complete
    return result.counts.executions


def shape(one: str, two: str, declarations: str = "atomic_int x, y;") -> str:
    """Two threads; `W(x,1)` and `R(x)` are relaxed, with other orders behind."""
    macros = """
#define W(at, value) atomic_store_explicit(&at, value, memory_order_relaxed)
#define WR(at, value) atomic_store_explicit(&at, value, memory_order_release)
#define WS(at, value) atomic_store(&at, value)
#define R(at) atomic_load_explicit(&at, memory_order_relaxed)
#define RA(at) atomic_load_explicit(&at, memory_order_acquire)
#define RS(at) atomic_load(&at)
#define CAS(at, expected, value) atomic_compare_exchange_strong(&at, &expected, value)
#define F(order) atomic_thread_fence(memory_order_##order)
"""
    return two_threads(macros + declarations, one, two)


@pytest.mark.parametrize(
    ("one", "two", "count"),
    [
        ("W(x, 1); (void) R(y);", "W(y, 1); (void) R(x);", 4),
        ("WS(x, 1); (void) RS(y);", "WS(y, 1); (void) RS(x);", 3),
        ("W(x, 1); F(seq_cst); (void) R(y);", "W(y, 1); F(seq_cst); (void) R(x);", 3),
        ("W(x, 1); F(acq_rel); (void) R(y);", "W(y, 1); F(acq_rel); (void) R(x);", 4),
        ("W(x, 1); W(y, 1);", "(void) R(y); (void) R(x);", 4),
        ("W(x, 1); WR(y, 1);", "(void) RA(y); (void) R(x);", 3),
        ("W(x, 1); F(release); W(y, 1);", "(void) R(y); F(acquire); (void) R(x);", 3),
        ("W(x, 1); W(y, 2);", "W(y, 1); W(x, 2);", 4),
        ("(void) R(x); W(y, 1);", "(void) R(y); W(x, 1);", 3),
        ("W(x, 1); W(x, 2);", "(void) R(x); (void) R(x);", 6),
        ("atomic_fetch_add(&x, 1);", "atomic_fetch_add(&x, 1);", 2),
        ("int e = 0; CAS(x, e, 1);", "int e = 0; CAS(x, e, 2);", 2),
        ("W(x, 1);", "while (!R(x)) ;", 1),
        ("WR(x, 1);", "while (RA(x) != 1) ;", 1),
    ],
)  # fmt: skip
def test_litmus_shapes_have_the_executions_of_rc11(tmp_path: Path, one: str, two: str, count: int) -> None:
    assert executions(run_text(tmp_path, shape(one, two))) == count


@pytest.mark.parametrize("kind", ["signed char", "short", "int", "long", "unsigned char", "unsigned long"])
def test_every_width_is_read_as_it_was_written(tmp_path: Path, kind: str) -> None:
    text = shape(
        f"atomic_store(&x, ({kind}) -3); atomic_fetch_add(&x, 1);",
        f"{kind} seen = atomic_load(&x); assert(seen == 0 || seen == ({kind}) -3 || seen == ({kind}) -2);",
        f"_Atomic {kind} x, y;",
    )
    assert executions(run_text(tmp_path, text)) == 3


def test_message_passing_fails_only_without_release_and_acquire(tmp_path: Path) -> None:
    for store, load, verdict in (
        ("WR", "RA", Verdict.HOLDS),
        ("W", "RA", Verdict.VIOLATED),
        ("WR", "R", Verdict.VIOLATED),
    ):
        text = shape(f"W(x, 1); {store}(y, 1);", f"if ({load}(y)) assert(R(x) == 1);")
        result = run_text(tmp_path, text)
        assert result.verdict is verdict
        assert {f.cause for f in result.findings} == ({"assertion"} if verdict is Verdict.VIOLATED else set())


@pytest.mark.parametrize(
    ("store", "load", "reason"),
    [("W", "RA", "does not release"), ("WR", "R", "does not acquire")],
)
def test_a_race_names_both_places_and_the_missing_order(tmp_path: Path, store: str, load: str, reason: str) -> None:
    result = run_text(tmp_path, shape(f"d = 1; {store}(y, 1);", f"if ({load}(y)) d = 2;", "int d; atomic_int x, y;"))
    assert result.verdict is Verdict.VIOLATED
    (found,) = result.findings
    assert found.kind == "race" and found.race is not None
    assert reason in " ".join(str(result).split())
    assert [step.variable for step in found.race] == ["d", "d"]
    assert {step.thread for step in found.race} == {1, 2}


def test_a_volatile_access_synchronises_nothing(tmp_path: Path) -> None:
    result = run_text(tmp_path, two_threads("volatile int x;", "x = 1;", "(void) x;"))
    assert [f.kind for f in result.findings] == ["race"]


def test_parts_of_a_structure_are_places_of_their_own(tmp_path: Path) -> None:
    text = two_threads("struct { char a, b; short c; } s, t;", "s.a = 1;", "s.b = 2; s.c = 3;")
    text = text.replace(
        "    return 0;\n}\n", "    t = s; assert(t.a == 1 && t.b == 2 && t.c == 3);\n    return 0;\n}\n"
    )
    assert executions(run_text(tmp_path, text)) == 1


def test_atomic_accesses_of_two_sizes_are_refused_by_name(tmp_path: Path) -> None:
    text = two_threads(
        "union { atomic_int whole; _Atomic short half; } u;", "atomic_store(&u.whole, 1);", "atomic_store(&u.half, 1);"
    )
    result = run_text(tmp_path, text)
    assert result.verdict is Verdict.UNKNOWN
    assert "different sizes" in result.findings[0].message


def test_locks_order_everything_and_each_order_is_tried(tmp_path: Path) -> None:
    body = "pthread_mutex_lock(&m); order = order * 10 + {}; pthread_mutex_unlock(&m);"
    text = two_threads("pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int order;", body.format(1), body.format(2))
    checked = text.replace("    return 0;\n}\n", "    assert(order == 12 || order == 21);\n    return 0;\n}\n")
    assert executions(run_text(tmp_path, checked)) == 2
    wrong = text.replace("    return 0;\n}\n", "    assert(order == 12);\n    return 0;\n}\n")
    assert run_text(tmp_path, wrong).verdict is Verdict.VIOLATED


def test_a_lock_that_was_not_got_orders_nothing(tmp_path: Path) -> None:
    declarations = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int d; atomic_int x, y;"
    one = "d = 1; pthread_mutex_lock(&m);"
    two = "if (pthread_mutex_trylock(&m) != 0) d = 2;"
    assert "race" in {f.kind for f in run_text(tmp_path, shape(one, two, declarations)).findings}


CONDITION = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready, d;"
SIGNAL = "d = 1; pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);"


def waiting(word: str) -> str:
    waits = f"{word} (!ready) pthread_cond_wait(&c, &m); assert(ready && d);"
    return f"pthread_mutex_lock(&m); {waits} pthread_mutex_unlock(&m);"


def test_a_condition_is_waited_for_and_a_thread_may_wake_up_without_a_signal(tmp_path: Path) -> None:
    assert run_text(tmp_path, two_threads(CONDITION, SIGNAL, waiting("while"))).verdict is Verdict.HOLDS
    result = run_text(tmp_path, two_threads(CONDITION, SIGNAL, waiting("if")))
    assert result.verdict is Verdict.VIOLATED
    bounded = run_text(tmp_path, two_threads(CONDITION, SIGNAL, waiting("if")), spurious=0)
    assert bounded.verdict is Verdict.HOLDS_UP_TO


def test_a_signal_that_nobody_waits_for_is_lost(tmp_path: Path) -> None:
    early = "pthread_cond_signal(&c); pthread_mutex_lock(&m); ready = d = 1; pthread_mutex_unlock(&m);"
    result = run_text(tmp_path, two_threads(CONDITION, early, waiting("while")))
    assert result.verdict is Verdict.VIOLATED and {f.kind for f in result.findings} == {"lost wake-up"}


@pytest.mark.parametrize(
    ("declarations", "one", "two"),
    [
        ("sem_t s; int d;", "d = 1; sem_post(&s);", "sem_wait(&s); assert(d == 1);"),
        ("sem_t s; int d;", "d = 1; sem_post(&s);", "if (sem_trywait(&s) == 0) assert(d == 1);"),
        ("pthread_rwlock_t l; int d;", "pthread_rwlock_wrlock(&l); d = 1; pthread_rwlock_unlock(&l);",
         "pthread_rwlock_rdlock(&l); int a = d; assert(a == d); pthread_rwlock_unlock(&l);"),
        ("pthread_spinlock_t l; int d;", "pthread_spin_lock(&l); d++; pthread_spin_unlock(&l);",
         "pthread_spin_lock(&l); d++; pthread_spin_unlock(&l);"),
        ("pthread_once_t o; int d; static void set(void) { d++; }", "pthread_once(&o, set); assert(d == 1);",
         "pthread_once(&o, set); assert(d == 1);"),
        ("pthread_barrier_t b; int d, e;", "d = 1; pthread_barrier_wait(&b); assert(e == 1);",
         "e = 1; pthread_barrier_wait(&b); assert(d == 1);"),
    ],
)  # fmt: skip
def test_what_synchronises_orders_what_comes_before(tmp_path: Path, declarations: str, one: str, two: str) -> None:
    text = two_threads(declarations, one, two)
    if "barrier" in text:
        text = text.replace("    pthread_t a, b;", "    pthread_t a, b; pthread_barrier_init(&b_, 0, 2);")
        text = text.replace("pthread_barrier_t b;", "pthread_barrier_t b_;").replace("wait(&b)", "wait(&b_)")
    assert run_text(tmp_path, text).verdict is Verdict.HOLDS


def test_two_readers_order_nothing(tmp_path: Path) -> None:
    read = "pthread_rwlock_rdlock(&l); d++; pthread_rwlock_unlock(&l);"
    assert "race" in {
        f.kind for f in run_text(tmp_path, two_threads("pthread_rwlock_t l; int d;", read, read)).findings
    }


def test_locks_in_two_orders_end_in_a_deadlock(tmp_path: Path) -> None:
    def body(first: str, second: str) -> str:
        pair = (first, second)
        locks = "".join(f"pthread_mutex_lock(&{lock});" for lock in pair)
        return locks + "".join(f"pthread_mutex_unlock(&{lock});" for lock in pair)

    text = two_threads("pthread_mutex_t m, n;", body("m", "n"), body("n", "m"))
    result = run_text(tmp_path, text)
    assert [f.kind for f in result.findings] == ["deadlock"]
    assert {step.name for step in result.findings[0].waiting} == {"pthread_join", "pthread_mutex_lock"}


def test_a_flag_that_nobody_sets_is_waited_for_for_ever(tmp_path: Path) -> None:
    assert run_text(tmp_path, shape("W(x, 1);", "while (R(x) != 2) ;")).findings[0].kind == "deadlock"
    assert executions(run_text(tmp_path, shape("W(x, 1); W(x, 2);", "while (R(x) != 2) ;"))) <= 2


def test_a_static_of_a_function_is_made_once(tmp_path: Path) -> None:
    text = """
#include <cassert>
#include <thread>
struct One { int value; One() : value(7) {} };
static One &one() { static One made; return made; }
int main() { std::thread a([] { assert(one().value == 7); }), b([] { assert(one().value == 7); }); a.join(); b.join(); }
"""
    assert run_text(tmp_path, text, "program.cpp").verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        ("abort();", "abort"),
        ("exit(3);", "exit status"),
        ("*(volatile int *) 8 = 1;", "crash"),
        ("assert(0);", "assertion"),
    ],
)
def test_each_way_to_fail_is_found_where_only_a_stale_read_leads(tmp_path: Path, end: str, cause: str) -> None:
    result = run_text(tmp_path, shape("W(x, 1); W(y, 1);", f"if (R(y) && !R(x)) {{ {end} }}"))
    assert [f.cause for f in result.findings] == [cause] and result.verdict is Verdict.VIOLATED


def test_freed_memory_is_not_used_nor_freed_again(tmp_path: Path) -> None:
    declarations = "_Atomic(int *) p;"
    free_it = "int *mine = atomic_exchange(&p, 0); if (mine) free(mine);"
    one = f"int *made = malloc(4); *made = 1; atomic_store(&p, made); {free_it}"
    assert executions(run_text(tmp_path, two_threads(declarations, one, free_it))) == 3
    used = two_threads(declarations, one, "int *seen = atomic_load(&p); if (seen) *seen = 2;")
    assert {f.cause for f in run_text(tmp_path, used).findings} <= {"use after free", "race"}
    assert run_text(tmp_path, used).verdict is Verdict.VIOLATED
    twice = two_threads(declarations, one, "int *seen = atomic_load(&p); if (seen) free(seen);")
    assert {f.cause for f in run_text(tmp_path, twice).findings} & {"double free", "race"}


def test_a_weak_compare_exchange_may_fail_for_no_reason(tmp_path: Path) -> None:
    once = "int e = 0; if (!atomic_compare_exchange_weak(&x, &e, 1)) assert(e != 0);"
    assert run_text(tmp_path, shape(once, "")).verdict is Verdict.VIOLATED
    lock = "int e = 0; while (!atomic_compare_exchange_weak(&x, &e, 1)) e = 0; d++; WR(x, 0);"
    assert executions(run_text(tmp_path, shape(lock, lock, "atomic_int x, y; int d;"))) == 2


def test_a_value_read_after_all_threads_ended_is_the_last_one(tmp_path: Path) -> None:
    text = shape("W(x, 1);", "W(x, 2); assert(R(x) != 0);")
    text = text.replace("    return 0;\n}\n", "    int last = x; assert(last == 1 || last == 2);\n    return 0;\n}\n")
    assert executions(run_text(tmp_path, text)) == 3


def test_the_report_names_orders_and_sources(tmp_path: Path) -> None:
    result = run_text(tmp_path, shape("W(x, 1); W(y, 1);", "if (RA(y)) assert(R(x));"))
    shown = str(result)
    assert "load y = 1 (acquire) <- step" in shown and "load x = 0 (relaxed) <- the initial value" in shown


def test_what_is_about_the_order_of_steps_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(HEAD + "int main(void) { return 0; }\n")
    for name, value in (("preemptions", 1), ("random", 10), ("threads", 2), ("cluster", "local")):
        with pytest.raises(WrongUsage, match="rc11"):
            run(path, model="rc11", **{name: value})  # type: ignore[arg-type]
    assert run(path, model="rc11", threads=1).verdict is Verdict.HOLDS


def test_an_update_is_one_step_also_where_the_thread_fails_right_behind_it(tmp_path: Path) -> None:
    once = "if (atomic_exchange(&p, 0)) free(block);"
    twice = "int *q = atomic_exchange(&p, 0); free(q);"
    start = "int *block; int *_Atomic p; __attribute__((constructor)) static void make(void) { p = block = malloc(4); }"
    assert executions(run_text(tmp_path, shape(once, once, start))) == 2
    assert executions(run_text(tmp_path, shape(twice, twice, start))) == 2


@pytest.mark.parametrize("own", ["int f = 0; CAS(z, f, 7);", "atomic_fetch_add(&z, 7);", "int f = 3; CAS(z, f, 7);"])
def test_an_update_is_seen_whatever_the_thread_does_with_its_own_memory(tmp_path: Path, own: str) -> None:
    for update in ("int e = 0; CAS(x, e, 1);", "atomic_fetch_add(&x, 1);"):
        found = run_text(tmp_path, shape(update + own, "assert(!R(x));", "atomic_int x, z;"))
        assert found.verdict is Verdict.VIOLATED
        text = shape(update + own, "int v = R(x); assert(v == 0 || v == 1);", "atomic_int x, z;")
        assert executions(run_text(tmp_path, text)) == 2
