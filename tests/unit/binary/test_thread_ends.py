"""What runs when a thread ends, and when the process does: handlers, destructors of frames, of keys and of globals."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.api.run import run
from memfence.tasks.answer import Verdict
from support.run_programs import HEAD, run_text

PROGRAM = Path(__file__).with_name("thread_ends.c")


@pytest.mark.parametrize("way", range(1, 9))
def test_what_a_thread_leaves_to_do_is_done(way: int) -> None:
    assert run(PROGRAM, macros=(f"WAY={way}",), timeout_seconds=30).verdict is Verdict.HOLDS
    assert run(PROGRAM, macros=(f"WAY={way}", "WRONG"), timeout_seconds=30).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("way", (1, 2))
def test_what_the_process_leaves_to_do_is_done(way: int) -> None:
    program = PROGRAM.with_name("process_ends.c")
    assert run(program, macros=(f"WAY={way}",), timeout_seconds=30).verdict is Verdict.HOLDS
    assert run(program, macros=(f"WAY={way}", "WRONG"), timeout_seconds=30).verdict is Verdict.VIOLATED


def test_constructors_before_main_register_what_runs_in_every_execution(tmp_path: Path) -> None:
    text = f"""{HEAD}
    struct Global {{ int *number = new int(1); ~Global() {{ assert(*number == 2); delete number; }} }} global;
    static void *one(void *) {{ __atomic_fetch_add(global.number, 1, __ATOMIC_SEQ_CST); return 0; }}
    int main() {{
        pthread_t t;
        pthread_create(&t, 0, one, 0);
        __atomic_load_n(global.number, __ATOMIC_SEQ_CST);
        pthread_join(t, 0);
    }}
    """
    text = text.replace("#include <stdatomic.h>", "#include <atomic>")
    assert run_text(tmp_path, text, "program.cpp").verdict is Verdict.HOLDS
    assert run_text(tmp_path, text.replace("== 2", "== 1"), "program.cpp").verdict is Verdict.VIOLATED


def test_pthread_exit_runs_destructors_and_handlers_of_cpp(tmp_path: Path) -> None:
    text = f"""{HEAD}
    static int ended;
    struct Guard {{ ~Guard() {{ assert(ended++ == 1); }} }};
    static void handle(void *) {{ assert(ended++ == 0); }}
    static void leave() {{ pthread_cleanup_push(handle, 0); pthread_exit(0); pthread_cleanup_pop(0); }}
    static void *one(void *) {{ Guard guard; leave(); return 0; }}
    int main() {{
        pthread_t t;
        pthread_create(&t, 0, one, 0);
        pthread_join(t, 0);
        assert(ended == 2);
    }}
    """
    text = text.replace("#include <stdatomic.h>", "#include <atomic>")
    assert run_text(tmp_path, text, "program.cpp").verdict is Verdict.HOLDS
    wrong = text.replace("ended == 2", "ended != 2")
    assert run_text(tmp_path, wrong, "program.cpp").verdict is Verdict.VIOLATED
