"""Memory that nobody has written, and locals that are gone: a use of them is a finding, a copy of padding is none."""

from __future__ import annotations

import pytest

from memfence import pipeline
from memfence.frontends.c.machine.arithmetic import compare, compute, extend
from memfence.frontends.c.machine.value_sets import UNLIKELY
from memfence.frontends.c.machine.values import UNDEFINED, Known
from memfence.program.load_options import COptions, LoadOptions
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult
from support.c_compiler import needs_clang

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
"""


def checked(body: str, model: str = "tso") -> CheckResult:
    program = pipeline.load_text(SourceText("test.c", HEAD + body), LoadOptions(c=COptions()))
    return check(program, CheckOptions(model=model, criterion="safety"))  # type: ignore[arg-type]


READER = """
_Atomic(int *) box;
static void *reader(void *u) { int *p = atomic_load(&box); if (p && *p) return p; return 0; }
int main(void) {
    pthread_t t; pthread_create(&t, 0, reader, 0);
    int *p = %s; %s
    pthread_join(t, 0); return 0;
}"""
PUBLISH, WRITE = "atomic_store(&box, p);", "*p = 1;"

USED = "use of an uninitialised value"
READ = "read of uninitialised memory"
DEAD = "use of a local variable of a function that has returned"

FINDINGS = {
    "a decision": (USED, "int main(void) { int x, y = 3; if (y > 2) y = x; if (y) y = 2; return 0; }"),
    "an assertion": (USED, "int main(void) { int x; assert(x + 1 > 0); return 0; }"),
    "a shift": (USED, "struct b { unsigned a:3, c:5; }; int main(void) { struct b v; v.a = 5; return v.c ? 1 : 0; }"),
    "an index": (USED, "int a[4]; int main(void) { unsigned i; a[i & 3] = 1; return 0; }"),
    "an element": (USED, "int main(void) { int a[3]; a[0] = 1; a[2] = 1; return a[1] > 0 ? 1 : 0; }"),
    "a block published too early": (READ, READER % ("malloc(4)", PUBLISH + WRITE)),
    "an uninitialised atomic": (
        USED,
        "int main(void) { atomic_int *p = malloc(sizeof *p); return atomic_fetch_add(p, 1); }",
    ),
    "an uninitialised mutex": (
        USED,
        "int main(void) { pthread_mutex_t *m = malloc(sizeof *m); pthread_mutex_lock(m); return 0; }",
    ),
    "a second call": (
        USED,
        "static void *none(void *u) { return u; }"
        "static int f(int set) { int a[2]; if (set) a[0] = a[1] = 1; pthread_t t; pthread_create(&t, 0, none, 0);"
        "return a[0] ? 1 : 0; } int main(void) { f(1); return f(0); }",
    ),
    "the local of another thread": (
        DEAD,
        """
_Atomic(int *) box;
static void *writer(void *u) { int *p = atomic_load(&box); if (p) *p = 5; return 0; }
static void publish(void) { int x = 1; atomic_store(&box, &x); }
int main(void) { pthread_t t; pthread_create(&t, 0, writer, 0); publish(); pthread_join(t, 0); return 0; }""",
    ),
    "a local of its own": (
        DEAD,
        "static int *f(void) { int x = 1; int *volatile p = &x; return p; } int main(void) { return *f(); }",
    ),
    "the stack of a thread that has ended": (
        DEAD,
        """
static void *owner(void *u) { int x = 3; int *volatile p = &x; return p; }
int main(void) { pthread_t t; void *p; pthread_create(&t, 0, owner, 0); pthread_join(t, &p); return *(int *)p; }""",
    ),
    "a mutex on a dead stack": (
        DEAD,
        """
static void *owner(void *u) { pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; void *volatile p = &m; return p; }
int main(void) { pthread_t t; void *p; pthread_create(&t, 0, owner, 0); pthread_join(t, &p);
                 pthread_mutex_lock(p); return 0; }""",
    ),
}


@needs_clang
@pytest.mark.parametrize("name", FINDINGS)
def test_it_is_found_with_a_run(name: str) -> None:
    text, body = FINDINGS[name]
    result = checked(body)
    assert result.verdict is Verdict.VIOLATED
    assert result.trace is not None and result.trace.failure is not None
    assert text in result.trace.failure.reason


CLEAN = {
    "a block published when it is written": READER % ("malloc(4)", WRITE + PUBLISH),
    "a block of zeros": READER % ("calloc(1, 4)", PUBLISH),
    "static objects": "int a[3]; int main(void) { static int x; assert(a[1] == 0 && x == 0); return 0; }",
    "padding that is copied": """
struct s { char c; int x; long y; };
static struct s made(int x) { struct s r; r.c = 1; r.x = x; r.y = 2; return r; }
int main(void) { struct s a = made(4), b, c; memcpy(&b, &a, sizeof a); c = b; assert(c.x == 4 && c.c == 1); return 0; }
""",
    "members that are copied unwritten": """
struct s { int x, y; };
static void *reader(void *u) { struct s mine = *(struct s *)u; assert(mine.x == 1); return 0; }
int main(void) { struct s *p = malloc(sizeof *p); p->x = 1; pthread_t t; pthread_create(&t, 0, reader, p);
                 pthread_join(t, 0); return 0; }
""",
    "bit-fields": """
struct b { unsigned a:3, c:5; char d; long e; };
int main(void) { struct b v; v.a = 5; v.c = 2; struct b w = v; assert(w.a == 5 && w.c == 2); return 0; }
""",
    "elements that are copied unwritten": """
int *box[4];
static void *other(void *u) { box[0] = 0; return u; }
int main(void) { pthread_t t; pthread_create(&t, 0, other, 0); int *a[4]; static int x; a[1] = &x;
                 for (int i = 0; i < 4; i++) box[i] = a[i];
                 assert(box[1] == &x); pthread_join(t, 0); return 0; }
""",
    "bytes": """
int main(void) { struct { char c; int x; } a, b; a.c = 1; a.x = 2;
                 for (unsigned i = 0; i < sizeof a; i++) ((unsigned char *)&b)[i] = ((unsigned char *)&a)[i];
                 assert(b.x == 2); return 0; }
""",
    "a function without return": "static void *f(void *u) { } int main(void) { f(0); return 0; }",
    "locals that are joined in time": """
static void *writer(void *u) { *(int *)u = 5; return 0; }
static int f(void) { int x = 1; pthread_t t; pthread_create(&t, 0, writer, &x); pthread_join(t, 0); return x; }
int main(void) { assert(f() + f() == 10); return 0; }
""",
    "a lock made on the heap": """
int main(void) { pthread_mutex_t *m = malloc(sizeof *m); pthread_mutex_init(m, 0); pthread_mutex_lock(m);
                 pthread_mutex_unlock(m); return 0; }
""",
}


@needs_clang
@pytest.mark.parametrize("name", CLEAN)
def test_it_is_no_false_alarm(name: str) -> None:
    assert checked(CLEAN[name]).verdict is Verdict.HOLDS


@needs_clang
@pytest.mark.parametrize("number", [65577, -1, -2, 0x1A4_FFFF, -(2**31), 2**31 - 1])
def test_no_number_is_taken_for_unwritten_memory(number: int) -> None:
    """Whatever stands for it lies beyond all that the program stores there."""
    result = checked(READER % ("malloc(4)", f"*p = {number}; *p = -1; *p = {number};" + PUBLISH))
    assert result.verdict is Verdict.HOLDS and not result.program.notes


EVERY_NUMBER = """
_Atomic(long *) box; _Atomic unsigned long any;
static void *count(void *u) { for (;;) any = any * 3 + 1; return 0; }
static void *reader(void *u) { long *p = atomic_load(&box); if (p && *p) return p; return 0; }
int main(void) {
    pthread_t t, s; pthread_create(&t, 0, reader, 0); pthread_create(&s, 0, count, 0);
    long *p = malloc(8); *p = (long)any; atomic_store(&box, p); return 0;
}"""


@needs_clang
def test_where_every_number_may_be_stored_one_is_cut_off_by_name() -> None:
    program = pipeline.load_text(SourceText("test.c", HEAD + EVERY_NUMBER), LoadOptions(c=COptions()))
    assert [note for note in program.notes if str(UNLIKELY) in note] == list(program.marked_cuts)


def test_bits_that_are_masked_away_are_not_needed() -> None:
    assert compute("and", 8, UNDEFINED, Known(7)) == Known(0, 7)
    assert compute("or", 8, Known(0, 0b1111_1000), Known(-8)) == Known(-8)
    assert compute("lshr", 8, Known(0, 7), Known(3)) == Known(0)
    assert compute("add", 8, Known(0, 1), Known(1)).undefined  # type: ignore[union-attr]
    assert extend("trunc", 16, 8, Known(3, 0xFF00)) == Known(3)
    assert extend("sext", 8, 16, Known(0, 0x80)).undefined == 0xFF80  # type: ignore[union-attr]
    assert compare("eq", 8, Known(0, 1), Known(0)) == UNDEFINED
