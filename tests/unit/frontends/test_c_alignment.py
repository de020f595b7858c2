"""Addresses are as aligned as the program asks for."""

from __future__ import annotations

import pytest

from support.c_compiler import needs_clang
from support.c_verdicts import c_program, everywhere, words

pytestmark = needs_clang

HEAD = """
#include <assert.h>
#include <malloc.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#define ALIGNED(p, n) assert((uintptr_t)(p) % (n) == 0)
"""


@pytest.mark.parametrize("alignment", [8, 16, 64, 128, 256, 512, 4096])
def test_heap_blocks_are_aligned(alignment: int) -> None:
    text = f"""{HEAD}
int main(void) {{
    char *first = malloc(3), *a = aligned_alloc({alignment}, {alignment}), *b = memalign({alignment}, 24);
    void *c;
    assert(posix_memalign(&c, {alignment}, 24) == 0);
    ALIGNED(a, {alignment}); ALIGNED(b, {alignment}); ALIGNED(c, {alignment}); ALIGNED(valloc(1), 4096);
    a[0] = 1; b[23] = 2; ((char *)c)[23] = 3;
    assert(a[0] + b[23] + ((char *)c)[23] == 6);
    free(first); free(a); free(b); free(c);
    return 0;
}}"""
    assert words(c_program(text)) == everywhere("holds")


def test_an_alignment_that_is_none_gives_no_memory() -> None:
    text = f"""{HEAD}
int main(void) {{
    void *c = 0;
    assert(posix_memalign(&c, 3, 8) == 22 && c == 0);
    assert(posix_memalign(&c, 4, 8) == 22 && c == 0);
    assert(aligned_alloc(24, 48) == 0);
    return 0;
}}"""
    assert words(c_program(text)) == everywhere("holds")


@pytest.mark.parametrize("alignment", [16, 128, 1024])
def test_variables_are_aligned(alignment: int) -> None:
    text = f"""{HEAD}
static char before; alignas({alignment}) static int global; static _Thread_local alignas({alignment}) int own;
struct line {{ alignas({alignment}) int x; }}; static struct line lines[2];
int main(void) {{
    alignas({alignment}) int local = 1;
    ALIGNED(&global, {alignment}); ALIGNED(&local, {alignment}); ALIGNED(&lines[1], {alignment});
    ALIGNED(&own, {alignment});
    return before + local - 1;
}}"""
    assert words(c_program(text)) == everywhere("holds")


def test_new_is_aligned() -> None:
    text = """
#include <cassert>
#include <cstdint>
#include <new>
struct alignas(256) Line { int x; };
int main() {
    char *first = new char;
    Line *one = new Line, *two = new Line[2];
    assert((std::uintptr_t)one % 256 == 0 && (std::uintptr_t)two % 256 == 0);
    delete first; delete one; delete[] two;
}"""
    assert words(c_program(text, "test.cpp")) == everywhere("holds")
