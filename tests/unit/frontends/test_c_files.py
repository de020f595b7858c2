"""Several C files are one program, as a linker puts them together."""

from __future__ import annotations

from pathlib import Path

import pytest

import memfence
from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.tasks.answer import Verdict
from memfence.tasks.usage import WrongUsage
from support.c_compiler import needs_clang
from support.command_line import memfence as in_process

pytestmark = needs_clang

MAIN = """
#include <assert.h>
#include <pthread.h>
extern int x, y, seen[2];
void publish(int *mine);
static int secret = 1;
static void *one(void *u) { publish(&x); seen[0] = y; return 0; }
static void *two(void *u) { publish(&y); seen[1] = x; return 0; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(seen[0] || seen[1]);
    return secret - 1;
}
"""
OTHER = """
int x, y, seen[2];
static int secret = 7;
void publish(int *mine) { *mine = secret; %s }
"""


def written(folder: Path, **texts: str) -> list[str]:
    for name, text in texts.items():
        (folder / f"{name}.c").write_text(text)
    return [str(folder / f"{name}.c") for name in texts]


def test_two_files_are_one_program(tmp_path: Path) -> None:
    """The store in the second file is overtaken by the load in the first; its `secret` is its own."""
    first, second = written(tmp_path, main=MAIN, other=OTHER % "")
    result = memfence.check(first, also=(second,), model="tso")
    assert result.verdict is Verdict.VIOLATED
    assert {"x", "y"} <= {v.name for v in result.program.variables}
    assert any(v.domain.hi == 7 for v in result.program.variables)
    assert memfence.check(first, also=(second,), model="sc").verdict is Verdict.HOLDS


def test_a_fence_in_the_second_file_is_seen(tmp_path: Path) -> None:
    first, second = written(tmp_path, main=MAIN, other=OTHER % "__sync_synchronize();")
    assert memfence.check(first, also=(second,), model="tso").verdict is Verdict.HOLDS


def test_the_command_line_takes_several_files(tmp_path: Path) -> None:
    first, second = written(tmp_path, main=MAIN, other=OTHER % "")
    assert in_process("check", first, second, "--model", "tso", "-q").returncode == 1
    assert in_process("check", first, second, "--model", "sc", "-q").returncode == 0


def test_fix_writes_into_the_file_that_needs_it(tmp_path: Path) -> None:
    first, second = written(tmp_path, main=MAIN, other=OTHER % "")
    for files in ((first, second), (second, first)):
        done = in_process("fix", *files, "--diff")
        assert done.returncode == 0
        assert done.stdout.count("atomic_thread_fence(memory_order_seq_cst);") == 1
        assert "other.c" in done.stdout and "main.c" not in done.stdout


def test_a_name_defined_twice_is_an_error_with_both_places(tmp_path: Path) -> None:
    files = written(tmp_path, main=MAIN, other=OTHER % "", third="int x;\n")
    with pytest.raises(InputError) as caught:
        memfence.check(files[0], also=tuple(files[1:]))
    (mistake,) = caught.value.diagnostics
    assert mistake.code is Code.DUPLICATE
    assert mistake.at.span.source.path.endswith("third.c")
    assert mistake.related[0].span.source.path.endswith("other.c")


def test_only_c_programs_have_several_files(tmp_path: Path) -> None:
    (other,) = written(tmp_path, other=OTHER % "")
    with pytest.raises(WrongUsage, match="only programs in C"):
        memfence.check("examples/lost_wakeup.pml", also=(other,))


def test_initialisers_run_before_main(tmp_path: Path) -> None:
    """In the order of their priorities, whichever file they are in."""
    first = """
int x, seq[3], n;
extern void note(int);
__attribute__((constructor(102))) static void second(void) { note(2); }
int main(void) { if (seq[0] != 1 || seq[1] != 2 || n != 2) __builtin_trap(); return 0; }
"""
    other = """
extern int seq[3], n;
void note(int what) { seq[n++] = what; }
__attribute__((constructor(101))) static void first(void) { note(1); }
"""
    files = written(tmp_path, main=first, other=other)
    assert memfence.check(files[0], also=(files[1],), criterion="safety").verdict is Verdict.HOLDS
