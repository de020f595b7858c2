"""A weak compare-exchange may fail although it finds what it expects: under every model, for every pair of orders."""

from __future__ import annotations

from itertools import product

import pytest

from memfence.frontends.c.lowering import assemble
from memfence.program.ir import Program, Rmw
from support.c_compiler import needs_clang
from support.c_verdicts import MODELS, OF_EVENTS, WITH_STATES, c_program, everywhere, verdicts, words

pytestmark = needs_clang

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
"""
SUCCESS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
FAILURE = ("relaxed", "acquire", "seq_cst")
ORDERS = tuple(product(SUCCESS, FAILURE))
LOOPS = {
    "tries again": "int v = atomic_load_explicit(&x, memory_order_relaxed); while (!CAS(&x, &v, v + 1)) ;",
    "loads again": "int v; do v = atomic_load_explicit(&x, memory_order_relaxed); while (!CAS(&x, &v, v + 1));",
    "constant": "for (;;) { int v = 0; if (CAS(&x, &v, 1)) break; } atomic_store(&x, 0);",
    "tests first": "int v; do { while (atomic_load(&x)) ; v = 0; } while (!CAS(&x, &v, 1)); atomic_store(&x, 0);",
    "array": "int v[1] = {0}; do v[0] = 0; while (!CAS(&x, v, 1)); atomic_store(&x, 0);",
}


def cas(kind: str, success: str = "seq_cst", failure: str = "seq_cst") -> str:
    orders = f"memory_order_{success}, memory_order_{failure}"
    return f"#define CAS(p, e, d) atomic_compare_exchange_{kind}_explicit(p, e, d, {orders})\n"


def threads(body: str, count: int = 2, end: str = "") -> str:
    creating = "".join(f"pthread_create(&t[{n}], 0, work, 0);" for n in range(count))
    joining = "".join(f"pthread_join(t[{n}], 0);" for n in range(count))
    return f"""
static void *work(void *unused) {{ {body} return 0; }}
int main(void) {{ pthread_t t[{count}]; {creating} {joining} {end} return 0; }}"""


def spurious(program: Program) -> int:
    return sum("spuriously" in step.span.shown for process in program.processes for step in process.transitions)


@pytest.mark.parametrize(("success", "failure"), ORDERS)
def test_a_single_weak_compare_exchange_may_fail(success: str, failure: str) -> None:
    body = threads("int e = 0; assert(CAS(&x, &e, 1));", 1)
    weak = c_program(HEAD + cas("weak", success, failure) + body)
    assert verdicts(weak) == dict.fromkeys(MODELS, ("violated", "assertion violated"))
    strong = c_program(HEAD + cas("strong", success, failure) + body)
    assert words(strong) == everywhere("holds")


@pytest.mark.parametrize(("success", "failure"), ORDERS)
def test_a_loop_around_it_ends_for_every_pair_of_orders(success: str, failure: str) -> None:
    text = HEAD + cas("weak", success, failure) + threads(LOOPS["tries again"], 2, "assert(x == 2);")
    assert words(c_program(text)) == everywhere("holds")


@pytest.mark.parametrize("loop", LOOPS)
def test_every_loop_around_it_holds_where_the_strong_one_does(loop: str) -> None:
    for kind in ("strong", "weak"):
        program = c_program(HEAD + cas(kind, "acquire", "relaxed") + threads(LOOPS[loop]))
        assert words(program) == everywhere("holds"), kind


@pytest.mark.parametrize("loop", ["tries again", "constant", "array"])
def test_a_failure_that_is_tried_again_at_once_is_left_out(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + cas("weak") + threads(LOOPS[loop])
    assert spurious(c_program(text)) == 0
    monkeypatch.setattr(assemble, "drop_idle_failures", lambda steps: None)
    kept = c_program(text)
    assert spurious(kept) > 0
    assert words(kept, WITH_STATES) == everywhere("holds", WITH_STATES)


def test_a_loop_that_counts_its_rounds_keeps_its_failures() -> None:
    body = "int n = 0, v = 0; while (!CAS(&x, &v, 1)) { v = 0; n = 1; } assert(n == 0); atomic_store(&x, 0);"
    assert words(c_program(HEAD + cas("weak") + threads(body, 1))) == everywhere("violated")
    assert words(c_program(HEAD + cas("strong") + threads(body, 1))) == everywhere("holds")


def test_a_store_in_the_loop_is_seen_twice() -> None:
    """What the loop does in each round is done again after a spurious failure."""
    body = "int v; do { atomic_fetch_add(&y, 1); v = 0; } while (!CAS(&x, &v, 1)); assert(atomic_load(&y) == 1);"
    head = HEAD + "static atomic_int y;\n"
    assert words(c_program(head + cas("weak") + threads(body, 1))) == everywhere("violated")
    assert words(c_program(head + cas("strong") + threads(body, 1))) == everywhere("holds")


def test_what_was_expected_stays_as_it_is_and_memory_too() -> None:
    body = "int v = 0; if (!CAS(&x, &v, 1)) { assert(v == 0); assert(atomic_load(&x) == 0); }"
    assert words(c_program(HEAD + cas("weak") + threads(body, 1))) == everywhere("holds")


def test_a_failure_before_the_first_thread_counts() -> None:
    text = HEAD + cas("weak") + "int main(void) { int v = 0; assert(CAS(&x, &v, 1)); return 0; }"
    assert words(c_program(text)) == everywhere("violated")
    loop = HEAD + cas("weak") + "int main(void) { int v = 0; while (!CAS(&x, &v, 1)) v = 0; assert(x == 1); return 0; }"
    assert words(c_program(loop)) == everywhere("holds")


def test_a_failure_reads_with_its_own_order() -> None:
    """Message passing by a failing exchange: the order of failure decides whether the data is seen."""
    for failure, verdict in (("relaxed", "violated"), ("acquire", "holds")):
        text = (
            HEAD
            + cas("weak", "seq_cst", failure)
            + """
static int data;
static void *sends(void *u) { data = 1; atomic_store_explicit(&x, 1, memory_order_release); return 0; }
static void *reads(void *u) { int v = 1; if (!CAS(&x, &v, 2) && v == 1) assert(data == 1); return 0; }
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, sends, 0); pthread_create(&u, 0, reads, 0);
    pthread_join(t, 0); pthread_join(u, 0);
    return 0;
}"""
        )
        program = c_program(text)
        # A value other than 1 is a failure for real; then `v` is 0.
        assert words(program, ("rc11",)) == {"rc11": verdict}, failure


def test_a_failing_locked_instruction_drains_the_store_buffer() -> None:
    """On x86 a compare-exchange is locked whether it succeeds or not."""
    text = (
        HEAD
        + cas("weak")
        + """
static atomic_int y, z; static int a, b;
#define S(v) atomic_store_explicit(&v, 1, memory_order_relaxed)
#define L(v) atomic_load_explicit(&v, memory_order_relaxed)
static void *one(void *u) { int e = 0; S(x); CAS(&z, &e, 0); a = L(y); return 0; }
static void *two(void *u) { int e = 0; S(y); CAS(&z, &e, 0); b = L(x); return 0; }
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, one, 0); pthread_create(&u, 0, two, 0);
    pthread_join(t, 0); pthread_join(u, 0);
    assert(a || b);
    return 0;
}"""
    )
    assert words(c_program(text), WITH_STATES) == everywhere("holds", WITH_STATES)


@pytest.mark.parametrize(
    "call",
    [
        "__atomic_compare_exchange_n(&y, &e, 1, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)",
        "atomic_compare_exchange_weak(&x, &e, 1)",
    ],
)
def test_every_spelling_in_c_is_weak(call: str) -> None:
    assert words(c_program(HEAD + "static int y;" + threads(f"int e = 0; assert({call});", 1))) == everywhere(
        "violated"
    )


def test_so_is_that_of_cpp() -> None:
    text = """
#include <atomic>
#include <cassert>
#include <thread>
std::atomic<int> x;
int main() { std::thread t([] { int e = 0; assert(x.compare_exchange_weak(e, 1)); }); t.join(); }"""
    assert words(c_program(text, "test.cpp")) == everywhere("violated")


def test_both_cases_belong_to_one_place_of_the_text() -> None:
    """Whoever strengthens the order of the exchange strengthens that of its spurious failure, too."""
    from memfence.synthesis.orders.places import every_place

    text = HEAD + cas("weak", "relaxed", "relaxed") + threads("int e = 0; assert(CAS(&x, &e, 1));", 1)
    program = c_program(text)
    rmws = [op for p in program.processes for t in p.transitions for op in t.ops if isinstance(op, Rmw)]
    places = [place for place in every_place(program) if place.kind == "rmw"]
    assert len(rmws) == 2
    assert [len(place.ops) for place in places] == [2]


def test_models_of_events_agree_on_more_threads() -> None:
    text = HEAD + cas("weak", "acq_rel", "relaxed") + threads(LOOPS["tries again"], 3, "assert(x == 3);")
    assert words(c_program(text), OF_EVENTS) == everywhere("holds", OF_EVENTS)
