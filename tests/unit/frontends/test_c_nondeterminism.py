"""Nondeterministic integers: when a few stand for all, and when the verdict says which were tried."""

from __future__ import annotations

import pytest

from memfence import pipeline
from memfence.program.load_options import LoadOptions
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang

pytestmark = needs_clang

PROGRAM = """
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
volatile int x, y;
static void *one(void *u) { %s x = __VERIFIER_nondet_int(); return 0; }
static void *two(void *u) { y = __VERIFIER_nondet_int(); return 0; }
int main(void) {
    pthread_t t1, t2;
    pthread_create(&t1, 0, one, 0); pthread_create(&t2, 0, two, 0);
    pthread_join(t1, 0); pthread_join(t2, 0);
    %s
}
"""
DRAW = "int r = __VERIFIER_nondet_int();"

COPIED_AND_COMPARED = {
    "assert(x != 123456 || y != -77);": Verdict.VIOLATED,
    "assert(x == y);": Verdict.VIOLATED,
    "assert(x != y);": Verdict.VIOLATED,
    "assert(x != y || x != 5);": Verdict.VIOLATED,
    DRAW + "assert(r == x || r == y);": Verdict.VIOLATED,
    DRAW + "if (r == x && r != y) assert(x != y);": Verdict.HOLDS,
    DRAW + "int s = __VERIFIER_nondet_int(); if (x != y && r != x && r != y) assert(s == r || s == x || s == y);": (
        Verdict.VIOLATED
    ),
    DRAW + "int s = __VERIFIER_nondet_int(); assert(r == s || x == y || r != x);": Verdict.VIOLATED,
    "assert(x == x);": Verdict.HOLDS,
}


def verdict_of(first: str, last: str) -> Verdict:
    program = pipeline.load_text(SourceText("test.c", PROGRAM % (first, last)), LoadOptions())
    return check(program, CheckOptions(model="tso", criterion="safety")).verdict


@pytest.mark.parametrize("claim", COPIED_AND_COMPARED)
def test_few_values_stand_for_all_where_they_are_copied_and_compared(claim: str) -> None:
    assert verdict_of("", claim) is COPIED_AND_COMPARED[claim]


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("", "assert(x + 1 != 1000);"),
        ("", "assert(x < 1000);"),
        ("", "int a[3]; assert(x < 0 || x > 2 || &a[x] != &a[3]);"),
        ("for (;;)", "assert(x != 1000);"),
    ],
)
def test_where_more_happens_to_them_the_verdict_is_bounded(first: str, last: str) -> None:
    assert verdict_of(first, last) is Verdict.HOLDS_UP_TO


def test_a_bound_that_no_run_reaches_does_not_bound_the_verdict() -> None:
    text = """
#include <pthread.h>
#include <stdatomic.h>
_Atomic int n;
static int deep(int left) { return left ? deep(left - 1) + 1 : 0; }
static void *set(void *u) { n = 1; return 0; }
static void *look(void *u) { int first = n, second = n; if (first == %d && second == %d) deep(100); return 0; }
int main(void) {
    pthread_t t1, t2;
    pthread_create(&t1, 0, set, 0); pthread_create(&t2, 0, look, 0);
    pthread_join(t1, 0); pthread_join(t2, 0);
}"""
    verdicts = []
    for seen in ((1, 0), (0, 1)):
        program = pipeline.load_text(SourceText("test.c", text % seen), LoadOptions())
        verdicts.append(check(program, CheckOptions(model="tso", criterion="safety")).verdict)
    assert verdicts == [Verdict.HOLDS, Verdict.HOLDS_UP_TO]
