"""Integers beyond 32 bits: flags in the high bits of a word are followed exactly."""

from __future__ import annotations

import pytest

from memfence import pipeline
from memfence.frontends.c.machine.wide import LOWEST_CODE, MOST_CODES, Codes
from memfence.program.load_options import LoadOptions
from memfence.questions import check
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


def test_a_code_stands_for_one_integer_and_small_ones_for_themselves() -> None:
    codes = Codes()
    assert not codes
    wide = [1 << 40 | n for n in range(MOST_CODES)]
    given = [codes.code_of(value) for value in wide]
    assert len(set(given)) == MOST_CODES and all(code >= LOWEST_CODE for code in given)
    assert codes.code_of(7) == 7
    assert codes.code_of(1 << 50) == 1 << 50  # there is none left
