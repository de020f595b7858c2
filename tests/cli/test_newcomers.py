"""What people type on their first day, and what they should read then."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

import memfence as api
from memfence.frontends.c.llvm.demangling import demangled
from support.c_compiler import needs_clang
from support.command_line import memfence

THREADS = "#include <thread>\n#include <atomic>\n#include <cassert>\n"
MODEL = "byte x;\nactive proctype A() { x = 1; assert(x == 1) }\n"


def complaint(tmp_path: Path, name: str, text: str, *options: str) -> str:
    """What is said about the file, which cannot be checked."""
    (tmp_path / name).write_text(text)
    done = memfence("check", name, *options, folder=tmp_path)
    assert done.returncode in (2, 3), done
    return done.stderr


def test_a_file_in_place_of_a_command_is_likely_to_be_checked(tmp_path: Path) -> None:
    (tmp_path / "lock.pml").write_text(MODEL)
    done = memfence("lock.pml", folder=tmp_path)
    assert done.returncode == 2 and "Did you mean `memfence check lock.pml`?" in done.stderr
    assert "Did you mean `memfence" not in memfence("nothing.pml", folder=tmp_path).stderr


@pytest.mark.parametrize(
    ("tried", "meant"), [("arm", "armv8"), ("aarch64", "armv8"), ("C11", "rc11"), ("x86_64", "x86")]
)
def test_other_names_of_a_model_lead_to_ours(tried: str, meant: str, tmp_path: Path) -> None:
    assert f"did you mean '{meant}'?" in complaint(tmp_path, "lock.pml", MODEL, "--model", tried)


def test_a_file_that_is_missing_is_compared_by_its_name_not_by_its_folder_or_ending(tmp_path: Path) -> None:
    for name in ("lock.pml", "unrelated.txt"):
        (tmp_path / name).write_text(MODEL)
    assert "did you mean `lock.pml`?" in memfence("check", "lock.txt", folder=tmp_path).stderr
    assert "did you mean" not in memfence("check", tmp_path / "queue.pml").stderr


def test_a_port_that_is_taken_is_wrong_usage() -> None:
    pytest.importorskip("nicegui", reason="the extra `ui` is not installed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = memfence("ui", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2 and "cannot use port" in done.stderr and "http" not in done.stderr


@needs_clang
def test_two_programs_in_c_are_checked_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "b.c").write_text("int main(void) { return 0; }\n")
    done = memfence("check", "a.c", "b.c", folder=tmp_path)
    assert done.returncode == 3 and "the files of one command are one program" in done.stderr


@needs_clang
def test_functions_that_are_not_known_are_named_as_in_the_source(tmp_path: Path) -> None:
    said = complaint(tmp_path, "a.cpp", "#include <iostream>\nint main() { std::cout << 7; }\n")
    assert "`std::ostream::operator<<(int)`" in said and "use printf" in said
    said = complaint(tmp_path, "a.c", "#include <stdlib.h>\nint main(void) { return (int)random(); }\n")
    assert "`random`" in said and "__VERIFIER_nondet_int" in said and "srand" not in said
    assert demangled("main") == "main" and demangled("_Znonsense!") == "_Znonsense!"


@needs_clang
def test_atomics_of_cpp_have_the_names_of_the_source(tmp_path: Path) -> None:
    text = (
        THREADS + "#include <array>\nstruct S { std::atomic<int> a{0}; std::array<std::atomic<int>, 2> b{}; };\nS s;\n"
    )
    text += "int main() { std::thread t([] { s.a = 1; s.b[1] = 1; }); s.a = 2; s.b[1] = 2; t.join(); assert(s.a); }\n"
    path = tmp_path / "a.cpp"
    path.write_text(text)
    assert {"s.a", "s.b[1]"} <= {variable.name for variable in api.load(path).variables}


@needs_clang
def test_an_execution_names_files_that_are_not_the_programs_own(tmp_path: Path) -> None:
    header = "static atomic_int x, y;\n\n\nstatic int get(void)\n{\n"
    (tmp_path / "get.h").write_text(header + "  return atomic_load_explicit(&x, memory_order_relaxed);\n}\n")
    text = '#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include "get.h"\n'
    text += "static void *f(void *a) { atomic_store_explicit(&x, 1, memory_order_relaxed);\n"
    text += "atomic_store_explicit(&y, 1, memory_order_relaxed); return a; }\n"
    text += "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0);\n"
    text += "if (atomic_load_explicit(&y, memory_order_acquire)) assert(get());\npthread_join(t, 0); return 0; }\n"
    (tmp_path / "a.c").write_text(text)
    shown = memfence("check", "a.c", "--model", "rc11", folder=tmp_path).stdout
    assert "│ get.h:6" in shown and "│ line 6" in shown


@needs_clang
def test_the_table_of_fences_and_the_reasons_blame_the_same_accesses(tmp_path: Path) -> None:
    text = "#include <assert.h>\n#include <pthread.h>\n"
    text += "static volatile int x, y, z; static int *volatile p; static int o = 1;\n"
    text += "static void f(void) { p = &o; }\nstatic void *a(void *u) { f();\nint s = y;\n"
    text += "int t = z; if (!s) x = 1 + t * 0; return u; }\n"
    text += "static void *b(void *u) { y = 1; __sync_synchronize(); if (!p) assert(!x); return u; }\n"
    text += "int main(void) { pthread_t i, j; pthread_create(&i, 0, a, 0); pthread_create(&j, 0, b, 0);\n"
    text += "pthread_join(i, 0); pthread_join(j, 0); return 0; }\n"
    (tmp_path / "a.c").write_text(text)
    shown = " ".join(memfence("fix", "a.c", folder=tmp_path, environment={"COLUMNS": "200"}).stdout.split())
    assert "a: p = &o (line 4) before the load of y (line 6)" in shown
    assert "`a` read y = 0 from memory (line 6" in shown
    assert "(5→4: line 4, in a call from line 5)" in shown


def test_ending_the_page_is_no_failure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = pytest.importorskip("memfence.server.ui.page", reason="the extra `ui` is not installed")
    from memfence.cli.ui import ui

    def ctrl_c(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(page, "serve", ctrl_c)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ui(port=port, folder=None, show=False)
    assert capsys.readouterr().err.endswith("memfence ui: ended\n")
