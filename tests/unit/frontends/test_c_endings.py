"""What counts as failing in C: every way to end a program means the same under every memory model."""

from __future__ import annotations

import pytest

from memfence import check, check_models
from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.failures import ABORT, ALLOWED, EXIT, RETURN_FROM_MAIN, TABLE, C, Reading, allowed_words, ending_of
from memfence.tasks.usage import WrongUsage
from support.c_compiler import needs_clang
from support.c_verdicts import MODELS, c_program, everywhere, verdicts, words

pytestmark = needs_clang

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>
"""
FAILING = {
    "abort();": "abort() is called",
    "exit(3);": "exit(3) is called",
    "_exit(3);": "_exit(3) is called",
    "_Exit(1);": "_Exit(1) is called",
    "quick_exit(-1);": "quick_exit(-1) is called",
    "exit(status);": "exit(2) is called",
    "raise(SIGABRT);": "raise(SIGABRT) ends the process",
    "raise(SIGTERM);": "raise(SIGTERM) ends the process",
    "kill(getpid(), SIGSEGV);": "kill(SIGSEGV) ends the process",
    "pthread_kill(pthread_self(), SIGUSR1);": "pthread_kill(SIGUSR1) ends the process",
    "assert(0);": "assertion violated",
    "__builtin_trap();": "__builtin_trap() is reached",
    "__builtin_unreachable();": "control reaches a place that the code says is never reached",
    "*(volatile int *)0 = 1;": "null pointer dereference: store",
    "status = 1 / (status - 2);": "division by zero",
}
NORMAL = ("exit(0);", "_exit(0);", "_Exit(0);", "quick_exit(0);", "exit(status - 2);", "raise(SIGCHLD);")
PLACES = ("main", "thread", "called")
ALLOWED_BY = {
    "abort": ("abort();", "raise(SIGABRT);", "raise(SIGTERM);", "kill(getpid(), SIGSEGV);"),
    "exit": ("exit(3);", "_exit(3);", "_Exit(1);", "quick_exit(-1);", "exit(status);", "return 1;"),
}


def program_text(end: str, place: str, more: str = "") -> str:
    """`end` in the main thread, in another one or in a function that this calls, while others wait for ever."""
    where = {one: end if one == place else "" for one in PLACES}
    returns = where["main"] if where["main"].startswith("return") else f"{where['main']} return 0;"
    return f"""{HEAD}{more}
static atomic_int x; volatile int status = 2;
static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
static void called(void) {{ {where["called"]} }}
static void *one(void *unused) {{ atomic_store(&x, 1); {where["thread"]} called(); return 0; }}
int main(void) {{
    pthread_t t;
    pthread_create(&t, 0, one, 0);
    pthread_join(t, 0);
    {returns}
}}"""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("end", FAILING)
def test_every_wrong_end_is_a_failure_that_is_named(end: str, place: str) -> None:
    found = verdicts(c_program(program_text(end, place)))
    assert found == dict.fromkeys(MODELS, ("violated", FAILING[end]))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("end", NORMAL)
def test_a_status_of_0_is_a_normal_end(end: str, place: str) -> None:
    assert words(c_program(program_text(end, place))) == everywhere("holds")


@pytest.mark.parametrize("returned", ["1", "-1", "status", "EXIT_FAILURE"])
def test_main_must_return_0(returned: str) -> None:
    found = verdicts(c_program(program_text(f"return {returned};", "main")))
    value = {"status": 2, "EXIT_FAILURE": 1}.get(returned) or int(returned)
    assert found == dict.fromkeys(MODELS, ("violated", f"main returns {value}"))


def test_a_status_that_depends_on_the_run_fails_where_it_is_not_0() -> None:
    """Store buffering: only where a store passes a load does `main` return 1."""
    text = f"""{HEAD}
    static atomic_int x, y; static int a, b;
    #define S(v) atomic_store_explicit(&v, 1, memory_order_relaxed)
    #define L(v) atomic_load_explicit(&v, memory_order_relaxed)
    static void *one(void *u) {{ S(x); a = L(y); return 0; }}
    static void *two(void *u) {{ S(y); b = L(x); return 0; }}
    int main(void) {{
        pthread_t t, u;
        pthread_create(&t, 0, one, 0); pthread_create(&u, 0, two, 0);
        pthread_join(t, 0); pthread_join(u, 0);
        return a == 0 && b == 0;
    }}"""
    found = verdicts(c_program(text))
    assert found.pop("sc") == ("holds", "")
    assert set(found.values()) == {("violated", "main returns 1")}


def test_what_another_function_returns_is_no_status() -> None:
    text = f"{HEAD} int start(void) {{ return 3; }}"
    assert words(c_program(text, entry="start")) == everywhere("holds")


@pytest.mark.parametrize(("word", "end"), [(word, end) for word in ALLOWED_BY for end in ALLOWED_BY[word]])
def test_allow_makes_it_a_normal_end_and_says_so(word: str, end: str) -> None:
    place = "main" if end.startswith("return") else "thread"
    program = c_program(program_text(end, place), allow=(word,))
    assert words(program) == everywhere("holds")
    assert program.reading == Reading("", (word,))  # type: ignore[arg-type]
    assert program.reading.text in program.assumed
    other = next(one for one in ALLOWED if one != word)
    assert words(c_program(program_text(end, place), allow=(other,))) == everywhere("violated")


@pytest.mark.parametrize("end", ["assert(0);", "__builtin_trap();", "*(volatile int *)0 = 1;"])
def test_nothing_else_can_be_allowed(end: str) -> None:
    assert words(c_program(program_text(end, "thread"), allow=("abort", "exit"))) == everywhere("violated")


SVCOMP = {
    "reach_error": "void reach_error(void) { assert(0); } void f(int c) { if (c) reach_error(); }",
    "__VERIFIER_nondet_int": "int __VERIFIER_nondet_int(void); int g(void) { return __VERIFIER_nondet_int(); }",
    "assume_abort_if_not": "void assume_abort_if_not(int c) { if (!c) abort(); }",
}


@pytest.mark.parametrize("end", ["abort();", "exit(3);", "_exit(1);", "return 1;"])
@pytest.mark.parametrize("name", SVCOMP)
def test_in_a_program_of_svcomp_abort_and_exit_just_end_the_run(name: str, end: str) -> None:
    place = "main" if end.startswith("return") else "thread"
    program = c_program(program_text(end, place, SVCOMP[name]))
    assert words(program) == everywhere("holds")
    assert program.reading is not None
    assert (program.reading.name, program.reading.svcomp_name) == ("sv-comp", name)


@pytest.mark.parametrize("body", ["assert(0);", "abort();", ""])
def test_calling_reach_error_is_the_error_of_svcomp_whatever_it_does(body: str) -> None:
    text = program_text("reach_error();", "thread", f"void reach_error(void) {{ {body} }}")
    assert words(c_program(text)) == everywhere("violated")


def test_an_assumption_by_abort_takes_runs_out() -> None:
    more = "void assume_abort_if_not(int c) { if (!c) abort(); } static atomic_int y;"
    end = "assume_abort_if_not(atomic_load(&y) == 1); assert(0);"
    assert words(c_program(program_text(end, "thread", more))) == everywhere("holds")


# The end of the process, while others wait.

WAITING = f"""{HEAD}
static atomic_int x; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *waits(void *u) {{ pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }}
static void *ends(void *u) {{ atomic_store(&x, 1); ENDS return 0; }}
int main(void) {{
    pthread_t t, u;
    pthread_mutex_lock(&m);
    pthread_create(&t, 0, waits, 0); pthread_create(&u, 0, ends, 0);
    LAST
}}"""


@pytest.mark.parametrize(
    ("ends", "last", "verdict"),
    [
        ("exit(0);", "pthread_join(t, 0); return 0;", "holds"),
        ("_exit(0);", "pthread_join(t, 0); return 0;", "holds"),
        ("", "exit(0);", "holds"),
        ("", "return 0;", "holds"),
        ("", "pthread_join(u, 0); return 0;", "holds"),
        ("if (atomic_load(&x) == 2) exit(0);", "pthread_join(t, 0); return 0;", "violated"),
        ("", "pthread_join(t, 0); return 0;", "violated"),
        ("", "pthread_exit(0);", "violated"),
        ("pthread_exit(0);", "pthread_join(t, 0); return 0;", "violated"),
    ],
)
def test_whoever_waits_when_the_process_ends_is_in_no_deadlock(ends: str, last: str, verdict: str) -> None:
    text = WAITING.replace("ENDS", ends).replace("LAST", last)
    assert words(c_program(text)) == everywhere(verdict)


@pytest.mark.parametrize("join", ["", "pthread_join(t, 0);"])
def test_a_run_is_final_where_all_have_ended_when_main_returns(join: str) -> None:
    text = f"""{HEAD}
    static int x, y; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static void *one(void *u) {{ pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }}
    int main(void) {{
        pthread_t t;
        pthread_create(&t, 0, one, 0);
        pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);
        {join}
        return 0;
    }}"""
    program = c_program(text)
    assert check(program, model="sc", final="x == 2").verdict.value == "holds"
    assert check(program, model="sc", final="x == 1").verdict.value == "violated"


# C++.

CPP = """
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <thread>
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("std::abort();", "abort() is called"),
        ("std::exit(4);", "exit(4) is called"),
        ("std::terminate();", "std::terminate() is called"),
        ('throw std::runtime_error("no");', "std::runtime_error is thrown and not caught"),
    ],
)
def test_a_lambda_of_a_thread_fails_like_a_function(body: str, said: str) -> None:
    text = f"{CPP} int main() {{ std::thread t([] {{ {body} }}); t.join(); }}"
    assert verdicts(c_program(text, "test.cpp")) == dict.fromkeys(MODELS, ("violated", said))


@pytest.mark.parametrize(
    "caught",
    [
        "struct Guard { ~Guard() { } }; void f() { throw 1; } void g() { Guard here; f(); }",
        "void f() { throw 1; } void g() noexcept { f(); }",
    ],
)
def test_cleaning_up_and_noexcept_catch_nothing(caught: str) -> None:
    found = verdicts(c_program(f"{caught} int main() {{ g(); }}", "test.cpp"))
    assert found == dict.fromkeys(MODELS, ("violated", "int is thrown and not caught"))


def test_an_exception_that_may_be_caught_is_refused_by_name() -> None:
    text = "void f() { throw 1; } int main() { try { f(); } catch (int) { } }"
    with pytest.raises(InputError) as refused:
        c_program(text, "test.cpp")
    assert refused.value.diagnostics[0].code is Code.UNSUPPORTED


@pytest.mark.parametrize(
    "name",
    [
        "_ZN4core9panicking5panic17h0123456789abcdefE",
        "_RNvNtCs1_4core9panicking9panic_fmt",
        "_ZN4core6result13unwrap_failed17h0123456789abcdefE",
    ],
)
def test_a_panic_of_rust_is_a_failure(name: str) -> None:
    text = f"""
declare void @"{name}"()
define i32 @main() {{
  call void @"{name}"()
  unreachable
}}"""
    assert verdicts(c_program(text, "test.ll")) == dict.fromkeys(MODELS, ("violated", "panic"))


# What is refused, and the table itself.


@pytest.mark.parametrize("call", ["kill(1, SIGTERM);", "signal(SIGTERM, SIG_IGN); raise(SIGTERM);", "raise(SIGSTOP);"])
def test_signals_that_memfence_does_not_follow_are_refused(call: str) -> None:
    with pytest.raises(InputError) as refused:
        c_program(program_text(call, "thread"))
    assert refused.value.diagnostics[0].code is Code.UNSUPPORTED


def test_other_words_cannot_be_allowed() -> None:
    assert allowed_words("exit, abort") == ("abort", "exit")
    for text in ("", "abort,", "assert", "ABORT"):
        with pytest.raises(ValueError, match="cannot be allowed"):
            allowed_words(text)
    with pytest.raises(WrongUsage, match="cannot be allowed"):
        check(f"{HEAD} int main(void) {{ return 0; }}", language="c", allow=["trap"])


def test_no_function_has_two_rows() -> None:
    named = [name for ending in TABLE for name in ending.names]
    assert len(named) == len(set(named))
    assert all(ending_of(name) in TABLE for name in named)


def test_only_abort_and_exit_depend_on_the_reading() -> None:
    other = Reading("reach_error", ALLOWED)
    assert {ending.kind for ending in TABLE if C.fails(ending) != other.fails(ending)} == {
        "abort",
        "exit status",
        "signal",
    }
    assert not C.fails(EXIT, 0)
    assert C.fails(EXIT, 256)
    assert not C.fails(RETURN_FROM_MAIN, 0)
    assert C.fails(ABORT)


def test_the_result_says_how_the_program_was_read() -> None:
    from memfence.report.describe.check_data import check_object
    from memfence.report.describe.models_text import models_object, render_models

    program = c_program(program_text("abort();", "thread", SVCOMP["reach_error"]))
    one, several = check(program, model="sc"), check_models(program, "rc11")
    assert (check_object(one)["reading"], check_object(one)["allow"]) == ("sv-comp", [])
    assert models_object(several)["reading"] == "sv-comp"
    assert "as in SV-COMP" in render_models(several, width=100)
    assert "as in SV-COMP" in str(one)
