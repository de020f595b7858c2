"""Memory that a program gets from the system by itself, and other system calls that it makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.tasks.answer import Verdict
from support.run_programs import HEAD, run_text

MAPPED = "mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)"
COUNTED = f"""#define _GNU_SOURCE
{HEAD}
#include <sys/mman.h>
#include <sys/syscall.h>
static atomic_int *cells;
static void *one(void *unused) {{ ADD; return 0; }}
static void *two(void *unused) {{ ADD; return 0; }}
int main(void)
{{
    cells = {MAPPED};
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(cells[0] == 2);
    assert(cells[SIZE / 4 - 1] == 0);
    cells[SIZE / 4 - 1] = 1;
    munmap(cells, SIZE);
    LAST;
    return 0;
}}
"""
ATOMIC = "atomic_fetch_add(cells, 1)"
TORN = "atomic_store(cells, atomic_load(cells) + 1)"


@pytest.mark.parametrize("size", [4096, 1 << 20])
@pytest.mark.parametrize(
    ("add", "last", "expected"),
    [
        (ATOMIC, "", Verdict.HOLDS),
        (TORN, "", Verdict.VIOLATED),
        (ATOMIC, "return cells[0] == 3", Verdict.VIOLATED),  # nothing is there any more
        (ATOMIC, "munmap(cells, SIZE)", Verdict.VIOLATED),
    ],
    ids=["kept", "torn", "used-afterwards", "unmapped-twice"],
)
def test_mapped_memory_is_zero_in_each_execution(
    tmp_path: Path, size: int, add: str, last: str, expected: Verdict
) -> None:
    result = run_text(tmp_path, COUNTED, macros=(f"SIZE={size}", f"ADD={add}", f"LAST={last}"), timeout_seconds=60)
    assert result.verdict is expected


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("mmap(0, 4096, PROT_READ, MAP_PRIVATE, 3, 0)", "`mmap` of a file"),
        (
            "mmap((void *)0x10000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)",
            "at an address",
        ),
        ("mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)", "read and written"),
        ("madvise(cells, 4096, MADV_DONTNEED)", "`madvise`"),
        ("mremap(cells, 4096, 8192, MREMAP_MAYMOVE)", "`mremap`"),
        ("munmap(cells, 4096)", "`munmap` of a part"),
        ("sbrk(4096)", "`sbrk`"),
        ("syscall(SYS_mmap, 0, 4096, 3, 34, -1, 0)", "the system call with the number 9"),
        ("syscall(SYS_membarrier, 0, 0)", "the system call with the number 324"),
    ],
)
def test_what_would_go_unseen_is_refused(tmp_path: Path, call: str, name: str) -> None:
    macros = ("SIZE=8192", f"ADD={call}", "LAST=")
    result = run_text(tmp_path, COUNTED, macros=macros, timeout_seconds=60)
    assert result.verdict is Verdict.UNKNOWN
    assert any(name in finding.message for finding in result.findings)


@pytest.mark.parametrize("call", ["syscall(SYS_getpid)", "syscall(SYS_gettid)", "syscall(SYS_sched_yield)"])
def test_other_system_calls_touch_no_memory(tmp_path: Path, call: str) -> None:
    macros = ("SIZE=4096", f"ADD={call}; {ATOMIC}", "LAST=")
    assert run_text(tmp_path, COUNTED, macros=macros, timeout_seconds=60).verdict is Verdict.HOLDS
