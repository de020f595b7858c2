"""Inline assembly: the patterns of lock-free code do what the instructions do."""

from __future__ import annotations

import pytest

from memfence import pipeline
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang

pytestmark = needs_clang

OPERATIONS = {
    "xchg": ('__asm__("xchgl %0,%1" : "+r"(v), "+m"(x) : : "memory")', "v == 5 && x == 2"),
    "xadd": ('__asm__("lock; xaddl %0,%1" : "=r"(v), "=m"(x) : "0"(v), "m"(x) : "memory")', "v == 5 && x == 7"),
    "inc": ('__asm__("lock; incl %0" : "+m"(x) : : "memory")', "x == 6"),
    "dec": ('__asm__("lock\\n\\tdecl %0" : "+m"(x) : : "memory")', "x == 4"),
    "add": ('__asm__("lock; addl %1,%0" : "+m"(x) : "r"(v) : "memory")', "x == 7"),
    "or": ('__asm__("lock; orl %1,%0" : "+m"(x) : "r"(v) : "memory")', "x == 7"),
    "cmpxchg": ('__asm__("lock; cmpxchgl %2,%1" : "=a"(v), "+m"(x) : "r"(9), "0"(5) : "memory")', "v == 5 && x == 9"),
    "failing cmpxchg": (
        '__asm__("lock; cmpxchgl %2,%1" : "=a"(v), "+m"(x) : "r"(9), "0"(4) : "memory")',
        "v == 5 && x == 5",
    ),
    "mov": ('__asm__("movl %1,%0" : "=m"(x) : "r"(v) : "memory")', "x == 2"),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("threaded", [False, True])
def test_instructions_compute_what_x86_computes(name: str, threaded: bool) -> None:
    operation, expected = OPERATIONS[name]
    start = "pthread_t t; pthread_create(&t, 0, other, 0);" if threaded else ""
    text = f"""
#include <assert.h>
#include <pthread.h>
static int x = 5;
static void *other(void *u) {{ return x > 100 ? u : 0; }}
int main(void) {{ {start} int v = 2; {operation}; assert({expected}); return 0; }}
"""
    program = pipeline.load_text(SourceText("asm.c", text))
    assert check(program, CheckOptions(model="tso", criterion="safety")).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("fence", "verdict"),
    [
        ('"mfence"', Verdict.HOLDS),
        ('"lock; orl $0,(%%rsp)"', Verdict.HOLDS),
        ('"lock; addl $0,0(%%rsp)"', Verdict.HOLDS),
        ('"pause"', Verdict.VIOLATED),
        ('"lfence"', Verdict.VIOLATED),
        ('""', Verdict.VIOLATED),
    ],
)
def test_fences_in_assembly_are_fences(fence: str, verdict: Verdict) -> None:
    text = f"""
#include <assert.h>
#include <pthread.h>
volatile int x, y; int a, b;
#define FENCE __asm__ __volatile__({fence} : : : "memory")
static void *one(void *u) {{ x = 1; FENCE; a = y; return 0; }}
static void *two(void *u) {{ y = 1; FENCE; b = x; return 0; }}
int main(void) {{
    pthread_t t, u; pthread_create(&t, 0, one, 0); pthread_create(&u, 0, two, 0);
    pthread_join(t, 0); pthread_join(u, 0); assert(a || b); return 0;
}}"""
    program = pipeline.load_text(SourceText("fence.c", text))
    assert check(program, CheckOptions(model="tso", criterion="safety")).verdict is verdict
