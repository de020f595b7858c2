"""Integers beyond 32 bits are followed exactly: flags in high bits, tags, counters, structs in a register."""

from __future__ import annotations

import pytest

from memfence import pipeline
from memfence.program.load_options import LoadOptions
from memfence.questions import check
from memfence.questions.models import check_models
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang

LOCKED = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#define LOCK (1ull << 63)
_Atomic uint64_t word = UINT64_MAX & ~LOCK;
uint64_t seen;
static void *one(void *u)
{
    atomic_store(&word, 3 | LOCK);
    atomic_store(&word, 3);
    return 0;
}
static void *two(void *u)
{
    uint64_t w = atomic_load(&word);
    assert(w == 3 || w == (3 | LOCK) || w == UINT64_MAX >> 1);
    if (w & LOCK)
        assert((w & ~LOCK) == 3);
    uint64_t expected = UINT64_MAX >> 1;
    if (atomic_compare_exchange_strong(&word, &expected, 5 | LOCK))
        assert(%s);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"""


@needs_clang
@pytest.mark.parametrize(
    ("claim", "verdict"), [("w == UINT64_MAX >> 1", Verdict.HOLDS), ("(word & LOCK) != 0", Verdict.VIOLATED)]
)
def test_flags_in_high_bits_are_followed(claim: str, verdict: Verdict) -> None:
    program = pipeline.load_text(SourceText("wide.c", LOCKED % claim), LoadOptions())
    assert not program.notes
    assert check(program, CheckOptions(model="tso", criterion="safety")).verdict is verdict


TWO_THREADS = """
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
%s
static void *first(void *u) { %s return 0; }
static void *second(void *u) { %s return 0; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0); pthread_create(&b, 0, second, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(%s);
    return 0;
}
"""
PAIR = """
struct item { int key, value; }; static atomic_int slot = 1, n;
static struct item take(void) { struct item i = { atomic_load(&slot), 7 }; return i; }
static void got(struct item i) { if (i.value == 7) atomic_fetch_add(&n, i.key); }
"""
TAG = "static _Atomic uint64_t word;"
ADD_TAG = "uint64_t w = word; atomic_compare_exchange_strong(&word, &w, ((w >> 32) + 1) << 32 | 1);"

CASES = {
    "a pair of ints by value": (PAIR, "got(take());", "slot = 2;", "n == 1 || n == 2", "n == 0"),
    "a tag in the upper half": (TAG, ADD_TAG, ADD_TAG, "word >> 32 == 1 || word >> 32 == 2", "word >> 32 == 0"),
    "a counter of size_t": ("_Atomic size_t n;", "n--;", "n--;", "n == SIZE_MAX - 1", "n == 0xfffffffe"),
    "the least int": ("atomic_int n;", "n = INT_MIN;", "n |= INT_MIN;", "n == INT_MIN", "n != INT_MIN"),
    "bit 31": ("atomic_uint n = 1;", "n <<= 31;", "n |= 0;", "n == 0x80000000u || n == 1", "n != 0x80000000u"),
    "bit 63": (TAG, "word |= 1ull << 63;", "word ^= 5;", "word == (5 | 1ull << 63)", "word >> 63 == 0"),
    "a product that wraps": (TAG, "word = word * 0x9E3779B97F4A7C15u + 3;", "word += 1;",
                             "word == 3 || word == 4 || word == 0x9E3779B97F4A7C18u", "word == 4"),
    "the greatest long": ("_Atomic long n = LONG_MAX;", "n = n - 1;", "n = -n;",
                          "n <= LONG_MIN + 2 || n == LONG_MAX - 1", "n > 0"),
}  # fmt: skip


@needs_clang
@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@pytest.mark.parametrize("name", CASES)
def test_numbers_of_64_bits_are_exact(name: str, model: str) -> None:
    declared, first, second, true, false = CASES[name]
    for claim, verdict in ((true, Verdict.HOLDS), (false, Verdict.VIOLATED)):
        text = TWO_THREADS % (declared, first, second, claim)
        program = pipeline.load_text(SourceText("wide.c", text), LoadOptions())
        result = check(program, CheckOptions(model=model, criterion="safety"))  # type: ignore[arg-type]
        assert result.verdict is verdict, claim
        assert not result.program.notes


@needs_clang
@pytest.mark.parametrize("name", CASES)
def test_numbers_of_64_bits_are_exact_to_models_of_events(name: str) -> None:
    declared, first, second, true, false = CASES[name]
    for claim, verdict in ((true, Verdict.HOLDS), (false, Verdict.VIOLATED)):
        text = TWO_THREADS % (declared, first, second, claim)
        program = pipeline.load_text(SourceText("wide.c", text), LoadOptions())
        result = check_models(program, ("x86", "rc11", "armv8"), CheckOptions())
        assert [answer.verdict for answer in result.answers] == [verdict] * 3, claim


@needs_clang
def test_a_run_shows_the_numbers_of_the_program() -> None:
    text = TWO_THREADS % (TAG, ADD_TAG, "", "word >> 32 == 0")
    result = check(pipeline.load_text(SourceText("wide.c", text)), CheckOptions(model="sc", criterion="safety"))
    assert result.trace is not None
    assert 0x1_0000_0001 in result.trace.steps[-1].state.memory
