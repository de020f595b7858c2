"""No access escapes, none is made up: programs that are not store-buffer safe in ways that are easy to overlook."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.binary.announced_writes import with_whole_writes
from memfence.binary.assembler import with_visible_fences
from memfence.tasks.answer import Verdict
from support.run_programs import HEAD, run_text, two_threads

SHARED = "volatile int x, y; int r, s;"
CHECKED = "int main(void) {{ pthread_t a, b; {first} pthread_create(&a, 0, one, 0); pthread_create(&b, 0, two, 0);"
CHECKED += " pthread_join(a, 0); pthread_join(b, 0); assert(r || s); return 0; }}"


def store_buffering(declarations: str, between: str, *, x: str = "x = 1;", of_x: str = "x", first: str = "") -> str:
    """Store buffering with something between store and load."""
    threads = [("one", f"{x} {between.format(1)} r = y;"), ("two", f"y = 1; {between.format(2)} s = {of_x};")]
    bodies = "".join(f"static void *{name}(void *unused) {{ {body} return 0; }}\n" for name, body in threads)
    return f"{HEAD}#include <string.h>\n{declarations}\n{bodies}{CHECKED.format(first=first)}"


UNSAFE = {
    "a spin lock is let go with a plain store": store_buffering(
        SHARED + "pthread_spinlock_t l1, l2;", "pthread_spin_lock(&l{0}); pthread_spin_unlock(&l{0});", x="x = 0;"
    ).replace("x = 0; pthread_spin_lock(&l1);", "pthread_spin_lock(&l1); x = 1;")
    .replace("y = 1; pthread_spin_lock(&l2);", "pthread_spin_lock(&l2); y = 1;"),
    "a signal for nobody": store_buffering(SHARED + "pthread_cond_t c1, c2;", "pthread_cond_signal(&c{0});"),
    "what was done once": store_buffering(
        SHARED + "pthread_once_t o; static void nothing(void) {}",
        "pthread_once(&o, nothing);",
        first="pthread_once(&o, nothing);",
    ),
    "a semaphore that is 0": store_buffering(SHARED + "sem_t s1, s2;", "sem_trywait(&s{0});"),
    "a function of libc stores": store_buffering(
        "char x[8]; volatile int y; int r, s;", "", x='strcpy(x, "hey");', of_x="strlen(x)"
    ),
    "a structure is stored": store_buffering(
        "struct S { int a[20]; } x; volatile int y; int r, s;", "",
        x="struct S l = {{1}}; x = l;", of_x="0; struct S l = x; s = l.a[0]",
    ),
    "threads of C11": store_buffering("#include <threads.h>\n" + SHARED, "")
    .replace("void *one(void", "int one(void").replace("void *two(void", "int two(void")
    .replace("pthread_t a, b;", "thrd_t a, b;").replace("pthread_create(&a, 0,", "thrd_create(&a,")
    .replace("pthread_create(&b, 0,", "thrd_create(&b,").replace("pthread_join", "thrd_join"),
}  # fmt: skip


@pytest.mark.parametrize("program", UNSAFE)
def test_a_gap_that_is_easy_to_overlook_is_found_and_confirmed(tmp_path: Path, program: str) -> None:
    result = run_text(tmp_path, UNSAFE[program])
    assert result.verdict is Verdict.VIOLATED and result.confirmed
    assert {finding.kind for finding in result.findings} == {"borderline"}


def test_thread_local_variables_are_known_to_others_by_their_address(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
    static _Thread_local volatile int mine;
    static volatile int *_Atomic place[2];
    static atomic_int ended;
    static int seen[2];
    static void *thread(void *number)
    {
        long me = (long)number;
        place[me] = &mine;
        while (!place[1 - me]) ;
        mine = 1;
        seen[me] = *place[1 - me];
        ++ended;
        while (ended < 2) ;
        return 0;
    }
    int main(void)
    {
        pthread_t a, b;
        pthread_create(&a, 0, thread, (void *)0);
        pthread_create(&b, 0, thread, (void *)1);
        pthread_join(a, 0);
        pthread_join(b, 0);
        assert(seen[0] || seen[1]);
        return 0;
    }
    """
    )
    result = run_text(tmp_path, text)
    assert result.confirmed and {finding.kind for finding in result.findings} == {"borderline"}


def test_bit_fields_beside_each_other_lose_stores(tmp_path: Path) -> None:
    text = two_threads("struct { unsigned a : 4, b : 4; } f;", "f.a = 1;", "f.b = 1;")
    lost = run_text(tmp_path, text.replace("return 0;\n}", "assert(f.a && f.b); return 0;\n}"))
    assert {finding.cause for finding in lost.findings} == {"assertion"}


def test_a_structure_is_copied_piece_by_piece_loads_first(tmp_path: Path) -> None:
    torn = two_threads(
        "struct S { long a, b, c; } x;",
        "struct S l = {1, 1, 1}; x = l;",
        "struct S l; l = x; assert(l.a == l.c);",
    )
    assert {finding.cause for finding in run_text(tmp_path, torn).findings} == {"assertion"}
    crossed = two_threads("struct P { int a, b; } x = {1}, y = {2};", "x = y;", "y = x;")
    assert run_text(tmp_path, crossed).verdict is Verdict.HOLDS  # no load follows a store


def test_a_load_within_the_own_buffered_store_sees_it(tmp_path: Path) -> None:
    text = two_threads(
        "union { volatile unsigned w; volatile unsigned char b[4]; } x; volatile int y; int r, s;",
        "x.w = 0x01010101; assert(x.b[1] == 1); r = y;",
        "y = 1; s = x.w;",
    )
    result = run_text(tmp_path, text)
    assert result.counts.borderline and not result.confirmed


def test_a_loop_that_gives_up_is_no_deadlock_and_no_proof(tmp_path: Path) -> None:
    text = two_threads("atomic_int flag;", "for (int i = 0; i < 200 && !flag; ++i) ;", "flag = 0;")
    result = run_text(tmp_path, text)
    assert result.verdict is Verdict.HOLDS_UP_TO and result.counts.spins_roughly and not result.findings


def test_calls_that_announce_more_than_a_store_are_renamed() -> None:
    copy = ["\tcall\t__tsan_write8@PLT", "\tleaq\ty(%rip), %rax", "\tmovq\t%rax, %rdi", "\tcall\t__tsan_read8@PLT"]
    assert next(with_whole_writes(copy)) == "\tcall\t__memfence_copy_write8@PLT"
    store = ["\tcall\t__tsan_write4@PLT", "\tmovl\t$1, x(%rip)", "\tcall\t__tsan_read4@PLT"]
    assert list(with_whole_writes(store)) == store
    bits = ["\tcall\t__tsan_write1@PLT", "\tmovzbl\ts(%rip), %eax", "\torl\t$1, %eax", "\tmovb\t%al, s(%rip)", "\tret"]
    assert next(with_whole_writes(bits)) == "\tcall\t__memfence_update_write1@PLT"


def test_every_use_of_thread_local_variables_is_moved() -> None:
    for line in ("\tmovq\t%fs:0, %rax", "\taddq\t%fs:0, %r13"):
        text, refused = with_visible_fences(f"{line}\n")
        assert "memfence_variables@GOTPCREL" in text and not refused
    assert with_visible_fences("\tmovl\t%fs:mine@tpoff, %eax\n")[1]
    assert not with_visible_fences("\tmovq\t%fs:40, %rax\n")[1]
