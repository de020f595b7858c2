"""Small C programs for the tests of `memfence run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memfence.api.run import run
from memfence.questions.run_result import RunResult

TWO_THREADS = """
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
HEAD = """
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
"""


def two_threads(declarations: str, one: str, two: str) -> str:
    """A program whose threads run these statements."""
    bodies = "".join(
        f"static void *{name}(void *unused) {{ {body} return 0; }}\n" for name, body in (("one", one), ("two", two))
    )
    return f"{HEAD}{declarations}\n{bodies}{TWO_THREADS}"


def run_text(folder: Path, text: str, name: str = "program.c", **options: Any) -> RunResult:
    """Write the program to a file and run it."""
    path = folder / name
    path.write_text(text)
    options.setdefault("timeout_seconds", 30)
    return run(path, **options)


STORE_BUFFERING = two_threads("volatile int x, y, r, s;", "x = 1; r = y;", "y = 1; s = x;")
STORE_BUFFERING_FENCED = two_threads(
    "volatile int x, y, r, s;",
    "x = 1; atomic_thread_fence(memory_order_seq_cst); r = y;",
    "y = 1; __sync_synchronize(); s = x;",
)
