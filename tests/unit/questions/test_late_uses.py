"""Uses of memory that a processor may delay until it is free: no HOLDS where C11 does not order them."""

from __future__ import annotations

import pytest

from memfence import check
from support.c_compiler import needs_clang

pytestmark = needs_clang

DONE = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static struct { atomic_int value; } *object;
static atomic_int done;
static void *user(void *unused) {
  (void)atomic_load_explicit(&object->value, memory_order_relaxed);
  atomic_store_explicit(&done, 1, memory_order_ORDER);
  return 0;
}
int main(void) {
  object = malloc(sizeof *object);
  atomic_init(&object->value, 3);
  pthread_t thread;
  pthread_create(&thread, 0, user, 0);
  while (!atomic_load_explicit(&done, memory_order_acquire))
    ;
  free(object);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("order", "verdicts"),
    [("relaxed", ["violated", "unknown", "unknown"]), ("release", ["holds", "holds", "holds"])],
)
def test_a_free_behind_a_flag_needs_the_flag_to_be_released(order: str, verdicts: list[str]) -> None:
    result = check(DONE.replace("ORDER", order), model="rc11,armv8,riscv", language="c")
    assert [answer.verdict.value for answer in result.answers] == verdicts
