"""Memory that is accessed in parts: unions, bit-fields, structs as a whole, words of 16 bytes, under every model."""

from __future__ import annotations

import pytest

from memfence import pipeline
from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.models.spec import SC, TSO
from memfence.program.ir import Program
from memfence.program.load_options import LoadOptions
from memfence.questions import check
from memfence.questions.models import check_models
from memfence.simulation.walk import begin
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang

pytestmark = needs_clang
H, V, U = Verdict.HOLDS, Verdict.VIOLATED, Verdict.UNKNOWN

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#define THREAD(n) static void *n(void *u)
#define RUN(a, b) pthread_t t1, t2; pthread_create(&t1, 0, a, 0); pthread_create(&t2, 0, b, 0); \\
    pthread_join(t1, 0); pthread_join(t2, 0);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#define LOCKED(...) pthread_mutex_lock(&m); __VA_ARGS__ pthread_mutex_unlock(&m);
"""


def loaded(text: str) -> Program:
    return pipeline.load_text(SourceText("cells.c", HEAD + text), LoadOptions())


def verdicts(text: str, models: tuple[str, ...] = ("sc", "tso", "pso", "x86", "rc11", "armv8")) -> list[Verdict]:
    """One for each model."""
    return [answer.verdict for answer in check_models(loaded(text), models, CheckOptions()).answers]


BY_LOCK = {
    "an assignment of a struct": (
        "struct p { int x, y; }; static struct p s;"
        "THREAD(a) { struct p v = {1, 1}; LOCKED(s = v;) return 0; }"
        "THREAD(b) { LOCKED(struct p v = s;) assert(v.x == v.y + WRONG); return 0; }"
    ),
    "memcpy of a struct": (
        "struct p { int x; char c; long y; }; static struct p s;"
        "THREAD(a) { struct p v = {1, 2, 1}; LOCKED(memcpy(&s, &v, sizeof s);) return 0; }"
        "THREAD(b) { struct p v; LOCKED(memmove(&v, &s, sizeof s);) assert(v.x == v.y + WRONG); return 0; }"
    ),
    "a struct in a register": (
        "struct p { int x, y; }; static struct p s; static int f(struct p v) { return v.x - v.y; }"
        "static struct p g(void) { struct p v = {3, 3}; return v; }"
        "THREAD(a) { LOCKED(s = g();) return 0; }"
        "THREAD(b) { LOCKED(int r = f(s);) assert(r == WRONG); return 0; }"
    ),
    "a struct by value in memory": (
        "struct p { long a, b, c; }; static struct p s; static long f(struct p v) { return v.a + v.b + v.c; }"
        "THREAD(a) { struct p v = {1, 2, 3}; LOCKED(s = v;) return 0; }"
        "THREAD(b) { LOCKED(long r = f(s);) assert(r == WRONG || r == 6); return 0; }"
    ),
    "a union of a word and its halves": (
        "static union { uint64_t w; struct { uint32_t lo, hi; }; } x;"
        "THREAD(a) { LOCKED(x.w = 0x100000001; x.hi++;) return 0; }"
        "THREAD(b) { LOCKED(uint64_t v = x.w; x.lo += 0;) assert(v == WRONG || v == 0x200000001); return 0; }"
    ),
    "bytes of a word": (
        "static uint32_t x;"
        "THREAD(a) { LOCKED(((unsigned char *)&x)[2] = 5; x |= 1;) return 0; }"
        "THREAD(b) { LOCKED(uint32_t v = x;) assert(v == WRONG || v == 0x50001); return 0; }"
    ),
    "memset of a struct": (
        "static struct { short a; char b; int c; } s;"
        "THREAD(a) { LOCKED(memset(&s, 1, sizeof s);) return 0; }"
        "THREAD(b) { LOCKED(int v = s.a ^ s.b << 8 ^ s.b; int c = s.c;) assert(v == WRONG || c == 0x1010101);"
        "            return 0; }"
    ),
    "bit-fields": (
        "static struct { unsigned a : 20; unsigned char tail; unsigned long c : 40; } s;"
        "THREAD(a) { LOCKED(s.a = 0xABCDE; s.c = 0x123456789A;) return 0; }"
        "THREAD(b) { s.tail = 7; LOCKED(long v = s.a, c = s.c;) assert(s.tail == 7);"
        "            assert(v == WRONG || (v == 0xABCDE && c == 0x123456789A)); return 0; }"
    ),
}


@pytest.mark.parametrize("name", BY_LOCK)
def test_plain_memory_is_exact_under_every_model_where_nobody_races(name: str) -> None:
    main = "int main(void) { RUN(a, b) return 0; }"
    assert verdicts(f"#define WRONG 0\n{BY_LOCK[name]}{main}") == [H] * 6
    assert verdicts(f"#define WRONG 9\n{BY_LOCK[name]}{main}") == [V] * 6


STRUCT = "struct p { int x, y; }; static struct p s; THREAD(a) { struct p v = {1, 1}; s = v; return 0; }"


def test_a_struct_is_copied_member_by_member_and_may_be_seen_half_copied() -> None:
    text = STRUCT + "THREAD(b) { struct p v = s; assert(v.x == v.y); return 0; } int main(void) { RUN(a, b) return 0; }"
    assert verdicts(text) == [V] * 6


def test_threads_that_write_neighbours_do_not_race() -> None:
    """Bytes beside each other are different memory; bit-fields of one unit are the same."""
    text = """
    static struct { unsigned char c[3]; unsigned a : 4, b : 4; } s;
    THREAD(one) { s.c[0] = 1; s.c[2] = 3; return 0; } THREAD(two) { s.c[1] = 2; s.%s = 5; return 0; }
    THREAD(three) { s.a = 7; return 0; }
    int main(void) { RUN(%s, two) assert(s.c[1] == 2 && (%s)); return 0; }"""
    assert verdicts(text % ("b", "one", "s.c[0] == 1 && s.c[2] == 3 && s.b == 5")) == [H] * 6
    assert verdicts(text % ("b", "three", "s.a == 7 && s.b == 5")) == [V] * 6


PAIR = """
typedef struct { uint64_t p, tag; } pair; static _Atomic pair top; static uint64_t n;
THREAD(a) { pair o = top, new; do { new.p = o.p ? 0 : (uint64_t)&n; new.tag = o.tag + 1; }
            while (!atomic_compare_exchange_strong(&top, &o, new)); return 0; }
int main(void) { RUN(a, a) pair e = top; assert(e.p == 0 && e.tag == %d); return 0; }
"""


def test_a_compare_exchange_of_16_bytes_is_one_step() -> None:
    assert verdicts(PAIR % 2) == [H, H, H, H, U, U]
    assert verdicts(PAIR % 1) == [V, V, V, V, U, U]


LONG = """
static __attribute__((aligned(16))) unsigned __int128 w;
THREAD(a) { unsigned __int128 o = __atomic_load_n(&w, 5), n;
            do { n = (unsigned __int128)((uint64_t)(o >> 64) + 1) << 64 | (uint64_t)o + 1; }
            while (!__atomic_compare_exchange_n(&w, &o, n, 0, 5, 5)); return 0; }
THREAD(b) { __atomic_exchange_n(&w, (unsigned __int128)5 << 64, 5); return 0; }
int main(void) { RUN(a, b) uint64_t lo = w, hi = w >> 64;
                 assert((lo == 1 && hi == 6) || (lo == 0 && hi == %d)); return 0; }
"""


def test_integers_of_128_bits_are_exchanged_and_taken_apart() -> None:
    assert verdicts(LONG % 5, ("sc", "tso", "pso")) == [H] * 3
    assert verdicts(LONG % 4, ("sc", "tso", "pso")) == [V] * 3


def test_unknown_integers_of_128_bits_are_not_computed_with() -> None:
    with pytest.raises(InputError) as refused:
        loaded(
            "static unsigned __int128 w; THREAD(a) { w = w * w + 3; return 0; } int main(void) { RUN(a, a) return 0; }"
        )
    (problem,) = refused.value.diagnostics
    assert problem.code is Code.UNSUPPORTED and "more than 64 bits" in problem.message


TICKET = """
static union { _Atomic uint32_t both; struct { _Atomic uint16_t owner, next; }; } l; static int inside, n;
THREAD(a) {
    uint32_t v = atomic_fetch_add_explicit(&l.both, 0x10000, memory_order_acquire); uint16_t me = v >> 16;
    if ((uint16_t)v != me) while (atomic_load_explicit(&l.owner, memory_order_acquire) != me);
    inside++; assert(inside == 1); n++; inside--;
    atomic_store_explicit(&l.owner, me + 1, memory_order_release); return 0; }
int main(void) { RUN(a, a) assert(n == %d && l.both == 0x20002); return 0; }
"""


def test_a_lock_whose_halves_are_stored_and_whose_whole_is_updated_is_exact() -> None:
    assert verdicts(TICKET % 2) == [H, H, H, H, U, U]
    assert verdicts(TICKET % 1) == [V, V, V, V, U, U]


WORD = """
static union {{ _Atomic uint64_t w; struct {{ _Atomic uint32_t lo, hi; }}; }} x;
THREAD(a) {{ {store} return 0; }}
THREAD(b) {{ {other} uint64_t v = x.w; assert((uint32_t)v != 1 || v >> 32 != 0); return 0; }}
int main(void) {{ RUN(a, b) return 0; }}
"""
RELAXED = "atomic_store_explicit(&x.w, 0x100000001, memory_order_relaxed);"
PART = "atomic_store_explicit(&x.lo, 5, memory_order_relaxed);"


def test_a_store_of_a_word_is_whole_where_others_load_or_update_its_halves() -> None:
    assert verdicts(WORD.format(store=RELAXED, other="uint32_t h = x.hi; x.hi ^= h & 0;")) == [H] * 6
    assert verdicts(WORD.format(store=RELAXED, other="uint32_t h = x.hi;")) == [H] * 6


def test_a_store_of_a_word_is_whole_where_others_store_its_halves_or_it_is_refused() -> None:
    at_once = WORD.format(store="x.w = 0x100000001;", other=PART)
    assert verdicts(at_once) == [H, H, H, H, U, U]
    buffered = loaded(WORD.format(store=RELAXED, other=PART))
    assert check(buffered, CheckOptions(model="sc", criterion="safety")).verdict is H
    for model in ("tso", "pso"):
        with pytest.raises(InputError) as refused:
            check(buffered, CheckOptions(model=model, criterion="safety"))  # type: ignore[arg-type]
        (problem,) = refused.value.diagnostics
        assert problem.code is Code.UNSUPPORTED and "x.w" in problem.message
        assert problem.at.span.text.startswith("atomic_store_explicit(&x.w")
    begin(buffered, SC.definition)
    with pytest.raises(InputError):
        begin(buffered, TSO.definition)


def test_padding_that_nobody_wrote_is_copied_and_passed_on() -> None:
    """`std::optional<int>` and the like: three bytes of the register are padding."""
    text = """
    struct maybe { int value; char engaged; }; static atomic_int slot = 1; static struct maybe last;
    static struct maybe take(void) { struct maybe r; r.value = slot; r.engaged = r.value != 3; return r; }
    static void put(struct maybe v) { LOCKED(last = v;) }
    THREAD(a) { put(take()); return 0; } THREAD(b) { slot = 2; return 0; }
    int main(void) { RUN(a, b) struct maybe r = last; assert(r.engaged == %d && r.value <= 2); return 0; }"""
    assert verdicts(text % 1) == [H] * 6
    assert verdicts(text % 0) == [V] * 6
    assert not loaded(text % 1).notes


def test_a_member_of_a_copied_struct_that_nobody_wrote_may_not_be_used() -> None:
    text = """
    struct pair { int x, y; };
    static struct pair made(int x) { struct pair r; r.x = x; return r; }
    static atomic_int slot = 1; THREAD(a) { slot = 2; return 0; }
    THREAD(b) { struct pair r = made(slot); assert(r.%s < 3); return 0; } int main(void) { RUN(a, b) return 0; }"""
    assert verdicts(text % "x", ("sc",)) == [H]
    result = check(loaded(text % "y"), CheckOptions(model="sc", criterion="safety"))
    assert result.trace is not None and result.trace.failure is not None
    assert "uninitialised" in result.trace.failure.reason


def test_memmove_copies_as_if_by_way_of_another_place() -> None:
    text = """
    static char s[6] = "abcde"; THREAD(a) { memmove(s + %d, s + %d, 4); return 0; } THREAD(b) { return 0; }
    int main(void) { RUN(a, b) assert(!memcmp_(s, "%s")); return 0; }"""
    compare = "static int memcmp_(char *a, const char *b) { while (*a && *a == *b) a++, b++; return *a != *b; }"
    for target, source, wanted in ((1, 0, "aabcd"), (0, 1, "bcdee"), (0, 0, "abcde")):
        assert verdicts(compare + text % (target, source, wanted), ("sc",)) == [H]
