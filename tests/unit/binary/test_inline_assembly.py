"""Inline assembler is explored as the accesses that it makes, whatever the instruction."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.binary.assembler import with_visible_fences
from memfence.binary.inline_assembly import Access, Unknown, access_of
from memfence.diagnostics import InputError
from memfence.tasks.answer import Verdict
from support.run_programs import HEAD, run_text, two_threads

WORDS = {"b": "unsigned char", "w": "unsigned short", "l": "unsigned", "q": "unsigned long"}
LOCKED = {
    "xchg": ("xchg{s} %1, %0", "1", "1"),
    "xadd": ("lock; xadd{s} %1, %0", "1", "1"),
    "inc": ("lock inc{s} %0", "0", "1"),
    "dec": ("lock\n dec{s} %0", "0", "-1"),
    "add": ("lock; add{s} %1, %0", "3", "3"),
    "sub": ("lock; sub{s} %1, %0", "3", "-3"),
    "or": ("lock; or{s} %1, %0", "6", "6"),
    "xor": ("lock; xor{s} %1, %0", "6", "6"),
    "not": ("lock; not{s} %0", "0", "~0"),
    "cmpxchg": ("lock; cmpxchg{s} %1, %0", "9", "9"),
}


def assembler(text: str, operand: str = "q") -> str:
    """A statement with `x` and a local `v`; `%rax` is 0 for those that compare."""
    quoted = text.replace("\n", "\\n")
    return f'__asm__ __volatile__("{quoted}" : "+m"(x), "+{operand}"(v), "+a"(zero) : : "memory", "cc");'


def after_one(type: str, statement: str, value: str, claim: str) -> str:
    return (
        f"{HEAD}static {type} x; static volatile int y; static int r, s;\n"
        f"static void *one(void *u) {{ {type} v = {value}, zero = 0; {statement} r = y; return 0; }}\n"
        f"static void *two(void *u) {{ y = 1; __sync_synchronize(); s = x != 0; return 0; }}\n"
        "int main(void) { pthread_t a, b; pthread_create(&a, 0, one, 0); pthread_create(&b, 0, two, 0);"
        f" pthread_join(a, 0); pthread_join(b, 0); assert(x == ({type})({claim})); assert(r || s); return 0; }}\n"
    )


@pytest.mark.parametrize("size", WORDS)
def test_locked_instructions_store_what_they_should_and_are_fences(tmp_path: Path, size: str) -> None:
    """Store buffering, whose first thread stores by the instruction."""
    for name, (text, value, claim) in LOCKED.items():
        program = after_one(WORDS[size], assembler(text.format(s=size)), value, claim)
        result = run_text(tmp_path, program)
        assert result.verdict is Verdict.HOLDS and result.counts.executions >= 3, (name, result.findings)


@pytest.mark.parametrize("size", WORDS)
def test_moves_are_stores_and_loads_that_wait_in_buffers(tmp_path: Path, size: str) -> None:
    store = assembler(f"mov{size} %1, %0")
    assert run_text(tmp_path, (after_one(WORDS[size], store, "1", "1"))).confirmed
    fenced = store + '__asm__("lock; orl $0, (%%rsp)" ::: "memory");'
    assert run_text(tmp_path, (after_one(WORDS[size], fenced, "1", "1"))).verdict is Verdict.HOLDS
    updated = assembler(f"or{size} %1, %0")
    assert run_text(tmp_path, (after_one(WORDS[size], updated, "1", "1"))).confirmed


LOST = two_threads("static unsigned x;", "{}", "{}").replace("return 0;\n}\n", "assert(x == 2); return 0;\n}\n")


def test_an_update_without_a_lock_is_lost_and_one_with_a_lock_is_not(tmp_path: Path) -> None:
    for prefix, verdict in (("", Verdict.VIOLATED), ("lock; ", Verdict.HOLDS)):
        body = f'__asm__ __volatile__("{prefix}incl %0" : "+m"(x) :: "memory", "cc");'
        result = run_text(tmp_path, LOST.replace("{}", body))
        assert result.verdict is verdict, prefix


def spin_lock(enter: str) -> str:
    leave = 'int none = 0; __asm__ __volatile__("movl %1, %0" : "=m"(lock) : "q"(none) : "memory");'
    return LOST.replace("static unsigned x;", "static int lock; static unsigned x;").replace(
        "{}", f"int v; {enter} ++x; {leave}"
    )


ENTER = {
    "exchange": 'do { v = 1; __asm__ __volatile__("xchgl %0, %1" : "+m"(lock), "+q"(v) :: "memory"); } while (v);',
    "zero flag": 'char z; do { int o = 0; v = 1; __asm__ __volatile__("lock; cmpxchgl %3, %0\\n sete %1"'
    ' : "+m"(lock), "=q"(z), "+a"(o) : "q"(v) : "memory", "cc"); } while (!z);',
    "flag in memory": 'volatile char z; do { int o = 0; v = 1; __asm__ __volatile__("lock; cmpxchgl %3, %0; setz %1"'
    ' : "+m"(lock), "=m"(z), "+a"(o) : "q"(v) : "memory", "cc"); } while (!z);',
    "jumps": '__asm__ __volatile__("1: movl $1, %1\\n xchgl %1, %0\\n testl %1, %1\\n jz 3f\\n'
    '2: pause; cmpl $0, %0\\n jnz 2b\\n jmp 1b\\n3:" : "+m"(lock), "=&r"(v) :: "memory", "cc");',
}


@pytest.mark.parametrize("how", ENTER)
@pytest.mark.parametrize("flags", [(), ("-O2",)])
def test_loops_that_wait_by_assembler_block(tmp_path: Path, how: str, flags: tuple[str, ...]) -> None:
    result = run_text(tmp_path, spin_lock(ENTER[how]), flags=flags)
    assert result.verdict is Verdict.HOLDS and not result.counts.spins_roughly, result.findings
    assert result.counts.executions <= 12


def test_what_only_registers_know_is_known(tmp_path: Path) -> None:
    """A loop whose count no memory has: it ends, whatever it loads."""
    loop = (
        'int n; __asm__ __volatile__("movl $5, %%ecx; 1: movl x(%%rip), %%eax; decl %%ecx; jnz 1b; movl %%ecx, %0"'
        ' : "=r"(n) :: "rax", "rcx", "memory", "cc"); assert(n == 0);'
    )
    result = run_text(tmp_path, two_threads("unsigned x;", loop, "x = 1;"), flags=("-O2",))
    assert result.verdict is Verdict.HOLDS, result.findings


def test_registers_of_every_kind_stay(tmp_path: Path) -> None:
    body = 'double d = x + 0.5; int v = 1; __asm__ __volatile__("lock; xaddl %1, %0" : "+m"(x), "+r"(v) :: "memory");'
    body += " assert(d == (double)v + 0.5);"
    result = run_text(tmp_path, two_threads("static volatile unsigned x;", body, ""), flags=("-O2",))
    assert result.verdict is Verdict.HOLDS, result.findings


def test_unknown_assembler_is_refused_where_an_execution_comes_to_it(tmp_path: Path) -> None:
    unused = 'static void f(void) { __asm__ __volatile__("cpuid" ::: "rax", "rbx", "rcx", "rdx"); }'
    program = two_threads(f"static volatile unsigned x; {unused}", "__sync_fetch_and_add(&x, 1);", "x; {}")
    assert run_text(tmp_path, program.replace("{}", "")).verdict is Verdict.HOLDS
    result = run_text(tmp_path, program.replace("{}", "f();"))
    assert result.verdict is Verdict.UNKNOWN and "cpuid" in str(result.findings[0])
    with pytest.raises(InputError, match="rdtsc"):
        run_text(tmp_path, 'asm("f: rdtsc; ret");' + program.replace("{}", ""))


INSTRUCTIONS = {
    "movl (%rax), %ebx": (Access.LOAD, 4), "movq $0, 8(%rsp)": (Access.STORE, 8),
    "movb %al, x(%rip)": (Access.STORE, 1), "movzbl (%rax), %ecx": (Access.LOAD, 1),
    "movswq x(,%rax,2), %rcx": (Access.LOAD, 2), "mov %cx, (%rax)": (Access.STORE, 2),
    "cmpl $0, (%rax)": (Access.LOAD, 4), "addq (%rax), %rbx": (Access.LOAD, 8), "addq %rbx, (%rax)": (Access.UPDATE, 8),
    "setz (%rax)": (Access.STORE, 1), "cmovne (%rax), %rcx": (Access.LOAD, 8), "xchgb %al, (%rdi)": (Access.LOCKED, 1),
    "xchg (%rdi), %r8d": (Access.LOCKED, 4), "lock cmpxchg16b (%rdi)": (Access.LOCKED, 16),
    "lock btsl $3, (%rdi)": (Access.LOCKED, 4),
}  # fmt: skip
NO_ACCESS = "movl %eax, %ebx|leaq 8(%rax), %rbx|sete %al|jmp 1b|cltq|push %rbx|testl %eax, %eax"
UNKNOWN = (
    "lock btsl %eax, (%rdi)|xaddl %eax, (%rdi)|movl|jmp *%rax|rdtsc|movl %gs:8, %eax|lock movl %eax, (%rdi)|rep movsb"
    "|incl|inc (%rax)|lock addl %eax, %ebx"
)


def test_the_table_of_instructions() -> None:
    for text, (access, size) in INSTRUCTIONS.items():
        found = access_of(text)
        assert found is not None and (found.access, found.size) == (access, size), text
    assert not [text for text in NO_ACCESS.split("|") if access_of(text) is not None]
    for text in UNKNOWN.split("|"):
        with pytest.raises(Unknown):
            access_of(text)


def test_a_stack_operand_is_moved_with_the_stack() -> None:
    text, _ = with_visible_fences("\t.cfi_startproc\n#APP\n\tincl -4(%rsp)\n\tincl (%rsp)\n#NO_APP\n")
    assert "leaq 8+-4(%rsp), %rdi" in text and "leaq 8+0(%rsp), %rdi" in text
    assert with_visible_fences("#APP\n.intel_syntax noprefix\n#NO_APP\n")[1]


def test_sleeping_is_no_progress_and_looking_at_the_clock_is(tmp_path: Path) -> None:
    """A loop that sleeps waits for the other thread; one that counts the time may end by itself."""
    head = "#include <poll.h>\n#include <time.h>\natomic_int flag;"
    for pause in ("usleep(1000);", "poll(0, 0, 10);", "sched_yield();"):
        result = run_text(tmp_path, two_threads(head + "\n#include <sched.h>", f"while (!flag) {pause}", "flag = 1;"))
        assert result.verdict is Verdict.HOLDS and result.counts.executions <= 4, pause
    timed = "while (!flag) { usleep(1000); if (time(0) > begin + 3) assert(0); }"
    result = run_text(tmp_path, two_threads(head, f"time_t begin = time(0); {timed}", ""))
    assert result.verdict is Verdict.VIOLATED


def test_a_store_fence_keeps_stores_in_order_under_pso(tmp_path: Path) -> None:
    store = '__asm__ __volatile__("movl $1, %0" : "=m"(data) :: "memory"); {} flag = 1;'
    reader = "if (flag) assert(data);"
    for fence, verdict in (("", Verdict.VIOLATED), ('__asm__ __volatile__("sfence" ::: "memory");', Verdict.HOLDS)):
        text = two_threads("static volatile int data, flag;", store.replace("{}", fence), reader)
        assert run_text(tmp_path, text, model="pso").verdict is verdict
        assert run_text(tmp_path, text).verdict is Verdict.HOLDS
