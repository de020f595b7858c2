"""`mmap` is memory of the heap; headers of installed libraries are found."""

from __future__ import annotations

from pathlib import Path

import pytest

import memfence
from memfence.diagnostics import InputError
from memfence.tasks.answer import Verdict
from support.c_compiler import needs_clang

pytestmark = needs_clang

TEXT = """
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
static atomic_int *cells;
static void *work(void *unused) { poll(0, 0, 10); ADD; return unused; }
int main(void)
{
    cells = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
    assert(cells[0] == 2);
    assert(cells[SIZE / 4 - 1] == 0);
    cells[SIZE / 4 - 1] = 1;
    LAST;
    return 0;
}
"""
ATOMIC = "atomic_fetch_add(cells, 1)"


def check(folder: Path, model: str = "tso", *, add: str = ATOMIC, last: str = "", size: int = 4096) -> Verdict:
    path = folder / "mapped.c"
    path.write_text(TEXT)
    macros = (f"ADD={add}", f"LAST={last}", f"SIZE={size}")
    return memfence.check(path, model=model, macros=macros, timeout_seconds=60).verdict


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@pytest.mark.parametrize(
    ("add", "last", "expected"),
    [
        (ATOMIC, "", Verdict.HOLDS),
        ("atomic_store(cells, atomic_load(cells) + 1)", "", Verdict.VIOLATED),
        (ATOMIC, "munmap(cells, SIZE)", Verdict.HOLDS),
        (ATOMIC, "munmap(cells, SIZE); return cells[0] == 3", Verdict.VIOLATED),
        (ATOMIC, "munmap(cells, SIZE); munmap(cells, SIZE)", Verdict.VIOLATED),
        (ATOMIC, "madvise(cells, SIZE, MADV_WILLNEED)", Verdict.HOLDS),
        (ATOMIC, "assert(mmap(0, 0, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)", Verdict.VIOLATED),
    ],
)
def test_memory_of_the_system_is_as_that_of_the_heap(
    tmp_path: Path, model: str, add: str, last: str, expected: Verdict
) -> None:
    assert check(tmp_path, model, add=add, last=last) is expected


def test_large_memory_costs_what_is_used_of_it(tmp_path: Path) -> None:
    assert check(tmp_path, size=1 << 22) is Verdict.HOLDS


@pytest.mark.parametrize(
    "call",
    [
        "mmap(0, 4096, 3, MAP_PRIVATE, 3, 0)",
        "mmap((void *)65536, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)",
        "mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)",
        "munmap((char *)cells + 64, 64)",
        "munmap(cells, 64 + SIZE)",
        "madvise(cells, SIZE, MADV_DONTNEED)",
        "struct pollfd files[1]; poll(files, 1, 10)",
    ],
)
def test_what_is_not_followed_is_refused(tmp_path: Path, call: str) -> None:
    with pytest.raises(InputError, match=r"is not supported|is not followed"):
        check(tmp_path, last=call)


@pytest.mark.skipif(not Path("/usr/include/ck_ring.h").exists(), reason="Concurrency Kit is not installed")
@pytest.mark.parametrize("barrier", ["ck_pr_fence_strict_store()", ""])
def test_headers_of_installed_libraries_are_found(tmp_path: Path, barrier: str) -> None:
    expected = Verdict.HOLDS if barrier else Verdict.VIOLATED
    path = tmp_path / "published.c"
    path.write_text(f"""
#include <assert.h>
#include <ck_pr.h>
#include <pthread.h>
static int data, flag;
static void *writer(void *unused) {{ ck_pr_store_int(&data, 1); {barrier}; ck_pr_store_int(&flag, 1); return unused; }}
int main(void)
{{
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    if (ck_pr_load_int(&flag)) {{ ck_pr_fence_load(); assert(ck_pr_load_int(&data) == 1); }}
    pthread_join(t, 0);
    return 0;
}}
""")
    assert memfence.check(path, model="pso", timeout_seconds=60).verdict is expected
