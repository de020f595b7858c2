"""`fix` writes where the code is: in headers, in any file of the command, in macros; what it claims, it has proved."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from memfence.cli.exit_codes import Exit
from support.c_compiler import needs_clang
from support.command_line import ROOT, memfence

pytestmark = needs_clang

THREADS = """
static atomic_int in;
static void critical(void) { assert(atomic_fetch_add(&in, 1) == 0); atomic_fetch_sub(&in, 1); }
static void *a(void *u) { if (enter(&x, &y)) critical(); return 0; }
static void *b(void *u) { if (enter(&y, &x)) critical(); return 0; }
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, a, 0); pthread_create(&t, 0, b, 0);
    pthread_join(s, 0); pthread_join(t, 0);
    return 0;
}
"""
ENTER = """int enter(atomic_int *mine, atomic_int *other) {
    atomic_store_explicit(mine, 1, memory_order_relaxed);
    return !atomic_load_explicit(other, memory_order_relaxed);
}
"""
HEAD = "#include <assert.h>\n#include <pthread.h>\n"


def in_a_header(folder: Path, where: str = "q.h") -> list[str]:
    (folder / where).parent.mkdir(exist_ok=True, parents=True)
    (folder / where).write_text(f"#include <stdatomic.h>\nstatic atomic_int x, y;\nstatic {ENTER}")
    (folder / "test.c").write_text(f'{HEAD}#include "q.h"\n{THREADS}')
    return ["test.c"]


def in_another_file(folder: Path) -> list[str]:
    declared = "extern atomic_int x, y;\nint enter(atomic_int *mine, atomic_int *other);\n"
    (folder / "q.h").write_text(f"#include <stdatomic.h>\n{declared}")
    (folder / "q.c").write_text(f'#include "q.h"\natomic_int x, y;\n{ENTER}')
    (folder / "test.c").write_text(f'{HEAD}#include "q.h"\n{THREADS}')
    return ["test.c", "q.c"]


def patched(folder: Path, diff: str) -> None:
    """Apply the diff as a user would."""
    done = subprocess.run(
        ["patch", "-p1", "--no-backup-if-mismatch"], input=diff, cwd=folder, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch")
@pytest.mark.parametrize("model", ["tso", "x86,rc11,armv8"])
@pytest.mark.parametrize("kind", ["header", "header of -I", "second file", "first file"])
def test_the_patch_is_written_where_the_code_is(kind: str, model: str, tmp_path: Path) -> None:
    match kind:
        case "header":
            files, changed = in_a_header(tmp_path), "q.h"
        case "header of -I":
            files, changed = [*in_a_header(tmp_path, "include/q.h"), "-I", "include"], "include/q.h"
        case "second file":
            files, changed = in_another_file(tmp_path), "q.c"
        case _:
            files, changed = in_another_file(tmp_path)[::-1], "q.c"
    done = memfence("fix", *files, "--model", model, "--diff", folder=tmp_path)
    assert done.returncode == Exit.HOLDS, done.stdout + done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("+++")] == [f"+++ b/{changed}"]
    patched(tmp_path, done.stdout)
    assert memfence("check", *files, "--model", model, "-q", folder=tmp_path).returncode == Exit.HOLDS


def test_the_answer_is_the_same_whatever_the_order_of_the_files(tmp_path: Path) -> None:
    files = in_another_file(tmp_path)
    answers = [json.loads(memfence("fix", *some, "--json", folder=tmp_path).stdout) for some in (files, files[::-1])]
    assert {answer["verdict"] for answer in answers} == {"fixed"}
    assert answers[0]["diff"] == answers[1]["diff"]
    assert [[one["file"] for one in answer["files"]] for answer in answers] == [["q.c"], ["q.c"]]


def test_in_place_changes_every_file_that_needs_it(tmp_path: Path) -> None:
    files = in_a_header(tmp_path)
    before = (tmp_path / "test.c").read_text()
    assert memfence("fix", *files, "--in-place", "-q", folder=tmp_path).returncode == Exit.HOLDS
    assert "atomic_thread_fence" in (tmp_path / "q.h").read_text() and (tmp_path / "test.c").read_text() == before
    assert memfence("check", *files, "-q", folder=tmp_path).returncode == Exit.HOLDS


def test_output_is_a_folder_where_other_files_are_changed(tmp_path: Path) -> None:
    files = in_a_header(tmp_path)
    before = (tmp_path / "q.h").read_text()
    assert memfence("fix", *files, "-o", "out", "-q", folder=tmp_path).returncode == Exit.HOLDS
    assert "atomic_thread_fence" in (tmp_path / "out" / "q.h").read_text() and (tmp_path / "q.h").read_text() == before
    assert memfence("check", "out/test.c", "-q", folder=tmp_path).returncode == Exit.HOLDS


def test_a_file_is_not_taken_for_a_folder(tmp_path: Path) -> None:
    files = in_a_header(tmp_path)
    (tmp_path / "out.c").write_text("mine\n")
    done = memfence("fix", *files, "-o", "out.c", folder=tmp_path)
    assert done.returncode == Exit.USAGE and "the fix changes `q.h`, too: name a folder" in done.stderr
    assert (tmp_path / "out.c").read_text() == "mine\n"


def test_line_ends_and_the_mark_of_a_header_stay(tmp_path: Path) -> None:
    files = in_a_header(tmp_path)
    text = (tmp_path / "q.h").read_text().replace("\n", "\r\n")
    (tmp_path / "q.h").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert memfence("fix", *files, "--in-place", "-q", folder=tmp_path).returncode == Exit.HOLDS
    after = (tmp_path / "q.h").read_bytes()
    assert after.startswith(b"\xef\xbb\xbf#include") and after.count(b"\n") == after.count(b"\r\n")


MESSAGE = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
{define}
static int data; static atomic_int flag;
static void *one(void *u) {{ data = 42; {store}; return 0; }}
static void *two(void *u) {{ if ({load}) assert(data == 42); return 0; }}
int main(void) {{
    pthread_t s, t;
    pthread_create(&s, 0, one, 0); pthread_create(&t, 0, two, 0);
    pthread_join(s, 0); pthread_join(t, 0);
    return 0;
}}
"""
MACROS = """#define PUBLISH(f) \\
    atomic_store_explicit(&(f), 1, memory_order_relaxed)
#define SEEN(f) atomic_load_explicit(&(f), memory_order_relaxed)
"""
IN_MACROS = {
    "the whole access": (MACROS, "PUBLISH(flag)", "SEEN(flag)", "m.c"),
    "the whole access, in a header": ('#include "sync.h"', "PUBLISH(flag)", "SEEN(flag)", "sync.h"),
    "the order alone": (
        "#define ORDER memory_order_relaxed",
        "atomic_store_explicit(&flag, 1, ORDER)",
        "atomic_load_explicit(&flag, ORDER)",
        "m.c",
    ),
    "an argument of the macro": (
        "#define STORE(f, v, o) atomic_store_explicit(&(f), v, o)\n#define LOAD(f, o) atomic_load_explicit(&(f), o)",
        "STORE(flag, 1, memory_order_relaxed)",
        "LOAD(flag, memory_order_relaxed)",
        "m.c",
    ),
}


@pytest.mark.parametrize("kind", IN_MACROS)
def test_an_order_is_made_stronger_where_a_macro_has_it(kind: str, tmp_path: Path) -> None:
    define, store, load, changed = IN_MACROS[kind]
    (tmp_path / "sync.h").write_text(MACROS)
    (tmp_path / "m.c").write_text(MESSAGE.format(define=define, store=store, load=load))
    done = memfence("fix", "m.c", "--model", "rc11,armv8", "--json", folder=tmp_path)
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"]) == (Exit.HOLDS, "fixed")
    assert [one["file"] for one in found["files"]] == [changed]
    text = found["files"][0]["patched"]
    assert text.count("memory_order_release") == 1 and text.count("memory_order_acquire") == 1


def compiled(folder: Path, text: str, name: str) -> None:
    from memfence.frontends.c.clang import compile_text
    from memfence.program.load_options import COptions
    from memfence.source import SourceText

    (folder / f"{name}.ll").write_text(compile_text(SourceText(f"{name}.c", text), COptions()))


SB = HEAD + "#include <stdatomic.h>\nstatic atomic_int x, y;\nstatic " + ENTER + THREADS


def test_ir_is_not_called_impossible_but_has_no_place(tmp_path: Path) -> None:
    compiled(tmp_path, SB, "sb")
    done = memfence("fix", "sb.ll", "--json", folder=tmp_path)
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"]) == (Exit.UNKNOWN, "unknown")
    assert "no place that may be edited" in found["scope"]
    text = memfence("fix", "sb.ll", folder=tmp_path).stdout
    assert "NOT FIXED under tso" in text and "NOT FIXABLE" not in text and "whatever is fenced" not in text
    done = memfence("fix", "sb.ll", "--model", "rc11", folder=tmp_path)
    assert done.returncode == Exit.UNKNOWN and "IMPOSSIBLE" not in done.stdout and "not enough" not in done.stdout


def test_a_store_inside_an_expression_is_named_as_the_place(tmp_path: Path) -> None:
    """Its load is in the same statement: no fence can stand between them."""
    enter = "static " + ENTER.replace(";\n    return !", ",\n !").replace("    atomic_store", "    return atomic_store")
    (tmp_path / "sb.c").write_text(f"{HEAD}#include <stdatomic.h>\nstatic atomic_int x, y;\n{enter}{THREADS}")
    done = memfence("fix", "sb.c", folder=tmp_path)
    assert done.returncode == Exit.UNKNOWN
    assert "no place that may be edited" in done.stdout and "sb.c:6" in done.stdout


def test_what_fails_under_sc_is_impossible(tmp_path: Path) -> None:
    (tmp_path / "sb.c").write_text(SB.replace("return !atomic_load", "return 1 || !atomic_load"))
    for options in ((), ("--model", "rc11,armv8")):
        done = memfence("fix", "sb.c", *options, "--json", folder=tmp_path)
        assert (done.returncode, json.loads(done.stdout)["verdict"]) == (Exit.VIOLATED, "impossible")


PLAIN = MESSAGE.format(define="", store="flagged = 1", load="flagged").replace("atomic_int flag", "int flagged")


def test_a_plain_variable_that_races_is_to_become_atomic(tmp_path: Path) -> None:
    (tmp_path / "plain.c").write_text(PLAIN)
    done = memfence("fix", "plain.c", "--model", "rc11", folder=tmp_path)
    assert done.returncode == Exit.UNKNOWN
    assert "NOT FIXED under rc11: `flagged` must become atomic first" in done.stdout
    found = json.loads(memfence("fix", "plain.c", "--model", "rc11", "--json", folder=tmp_path).stdout)
    assert (found["verdict"], [one["variable"] for one in found["make_atomic"]]) == ("unknown", ["flagged"])


@pytest.mark.parametrize("model", ["tso", "rc11"])
def test_a_patch_that_does_not_compile_is_written_in_another_way(model: str, tmp_path: Path) -> None:
    """The program's own headers shadow the library's: the name of its fence means something else here."""
    own = "typedef _Atomic int atomic_int;\n#define memory_order_seq_cst do not use\n"
    enter = "static int enter(atomic_int *mine, atomic_int *other) {\n"
    enter += "    __c11_atomic_store(mine, 1, __ATOMIC_RELAXED);\n"
    enter += "    return !__c11_atomic_load(other, __ATOMIC_RELAXED);\n}\n"
    threads = THREADS.replace("atomic_fetch_add(&in, 1)", "__c11_atomic_fetch_add(&in, 1, __ATOMIC_SEQ_CST)")
    threads = threads.replace("atomic_fetch_sub(&in, 1)", "__c11_atomic_fetch_sub(&in, 1, __ATOMIC_SEQ_CST)")
    (tmp_path / "own.c").write_text(f"{HEAD}{own}static atomic_int x, y;\n{enter}{threads}")
    done = memfence("fix", "own.c", "--model", model, "--diff", folder=tmp_path)
    assert done.returncode == Exit.HOLDS, done.stdout + done.stderr
    assert "__atomic_thread_fence(__ATOMIC_SEQ_CST);" in done.stdout and "MF006" not in done.stderr


def test_a_place_where_no_fence_compiles_is_none(tmp_path: Path) -> None:
    none = "\n#define __atomic_thread_fence none\n#undef atomic_thread_fence\n#define atomic_thread_fence none"
    (tmp_path / "sb.c").write_text(SB.replace("#include <stdatomic.h>", f"#include <stdatomic.h>{none}"))
    done = memfence("fix", "sb.c", folder=tmp_path)
    assert done.returncode == Exit.UNKNOWN and "MF006" not in done.stderr
    assert "the compiler refuses a fence where one would help: sb.c:9" in done.stdout


LIBRARY = """
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static atomic_int ready, waiting; static sem_t wake;
static void notify(void) {
    if (atomic_load_explicit(&waiting, memory_order_relaxed))
        sem_post(&wake);
}
static void *producer(void *u) {
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    notify();
    return 0;
}
static void *consumer(void *u) {
    atomic_store(&waiting, 1);
    if (!atomic_load(&ready)) sem_wait(&wake);
    return 0;
}
int main(void) {
    pthread_t s, t;
    sem_init(&wake, 0, 0);
    pthread_create(&s, 0, producer, 0); pthread_create(&t, 0, consumer, 0);
    pthread_join(s, 0); pthread_join(t, 0);
    return 0;
}
"""


def test_the_fence_goes_into_the_function_that_needs_it_not_into_its_caller(tmp_path: Path) -> None:
    (tmp_path / "l.c").write_text(LIBRARY)
    done = memfence("fix", "l.c", "--diff", folder=tmp_path)
    assert done.returncode == Exit.HOLDS
    added = [line for line in done.stdout.splitlines() if line.startswith("+ ")]
    assert added == ["+    atomic_thread_fence(memory_order_seq_cst);"]
    lines = done.stdout.splitlines()
    assert "static void notify(void) {" in lines[lines.index(added[0]) - 1]


def test_a_statement_without_braces_gets_them_for_a_fence_before_it(tmp_path: Path) -> None:
    text = LIBRARY.replace("    if (atomic_load", "    if (limit > 0)\n        if (atomic_load").replace(
        "static sem_t wake;", "static sem_t wake; static int limit = 1;"
    )
    (tmp_path / "l.c").write_text(text)
    done = memfence("fix", "l.c", "--in-place", "-q", folder=tmp_path)
    assert done.returncode == Exit.HOLDS
    assert memfence("check", "l.c", "-q", folder=tmp_path).returncode == Exit.HOLDS


def test_a_folder_that_the_program_lies_in_is_no_place_for_the_patched_file(tmp_path: Path) -> None:
    source = tmp_path / "program.pml"
    text = (ROOT / "examples/lost_wakeup.pml").read_text()
    source.write_text(text)
    done = memfence("fix", source.name, "-o", ".", folder=tmp_path)
    assert done.returncode == 2 and "would overwrite FILE; use --in-place" in done.stderr
    assert source.read_text() == text
