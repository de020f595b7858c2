"""What is said of a failing run is what fails there, however many other things could fail in the same thread."""

from __future__ import annotations

import pytest

from memfence import pipeline
from memfence.program.load_options import COptions, LoadOptions
from memfence.questions import check
from memfence.questions.models import check_models
from memfence.report.describe.models_text import reason_text
from memfence.report.words.findings import finding_text
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang

pytestmark = needs_clang

EVERY_WAY = """
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int what, zero;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(int *) nowhere;
int *block;
atomic_int *fresh;
static void *one(void *u) {
    pthread_mutex_lock(&m);
    int w = what;
    pthread_mutex_unlock(&m);
    if (w == 1) { assert(zero != 0); }
    if (w == 2) { int *p = nowhere; *p = 1; }
    if (w == 3) { int j = 4 / zero; (void)j; }
    if (w == 4) { int j = INT_MAX + (zero + 1); (void)j; }
    if (w == 5) { free(block); *block = 1; }
    if (w == 6) { free(block); free(block); }
    if (w == 7) { if (*fresh) zero = 1; }
    if (w == 8) { int a[2] = {0, 0}; zero = a[zero + 2]; }
    return 0;
}
static void *two(void *u) {
    pthread_mutex_lock(&m);
    what = 1; what = 2; what = 3; what = 4; what = 5; what = 6; what = 7; what = 8;
    what = WHAT;
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t s, t;
    block = malloc(sizeof(int)); fresh = malloc(sizeof *fresh);
    pthread_create(&s, 0, one, 0); pthread_create(&t, 0, two, 0);
    pthread_join(s, 0); pthread_join(t, 0);
    return 0;
}
"""
REASONS = {
    1: "assertion violated",
    2: "null pointer dereference",
    3: "division by zero",
    4: "signed integer overflow",
    5: "use of freed memory",
    6: "double free",
    7: "read of uninitialised memory",
    8: "index outside of its array",
}


@pytest.mark.parametrize("what", REASONS, ids=lambda n: REASONS[n].replace(" ", "_"))
def test_a_failing_run_is_given_the_reason_of_the_statement_that_fails(what: int) -> None:
    source = SourceText("test.c", EVERY_WAY)
    program = pipeline.load_text(source, LoadOptions(c=COptions(macros=(f"WHAT={what}",))))
    result = check(program, CheckOptions(model="tso", criterion="safety"))  # type: ignore[arg-type]
    assert result.verdict is Verdict.VIOLATED
    assert result.trace is not None and result.trace.failure is not None
    assert result.trace.failure.reason.startswith(REASONS[what])


@pytest.mark.parametrize("what", REASONS, ids=lambda n: REASONS[n].replace(" ", "_"))
def test_a_failing_execution_is_given_the_reason_of_the_check_that_fails(what: int) -> None:
    source = SourceText("test.c", EVERY_WAY)
    program = pipeline.load_text(source, LoadOptions(c=COptions(macros=(f"WHAT={what}",))))
    answer = check_models(program, ["rc11"], CheckOptions()).answers[0]
    assert answer.verdict is Verdict.VIOLATED
    assert reason_text(answer).startswith("assert(zero != 0) fails" if what == 1 else REASONS[what])


def test_what_the_library_does_by_itself_has_no_statement() -> None:
    """The destructor of a thread that runs is no text of the user's."""
    text = "#include <thread>\nint main() {\n  std::thread t([] {});\n}\n"
    program = pipeline.load_text(SourceText("left.cpp", text))
    expected = "std::terminate, since a thread was not joined (line 4)"
    asked = CheckOptions(model="sc", criterion="safety")  # type: ignore[arg-type]
    assert finding_text(check(program, asked)) == expected
    assert reason_text(check_models(program, ["rc11"], CheckOptions()).answers[0]) == expected


STUCK = """
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int other;
static void *one(void *u) { other = 1; return u; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, one, 0);
    if (other OF 0) {
        pthread_mutex_lock(&m);
        pthread_mutex_lock(&m);
    }
    pthread_mutex_lock(&n);
    if (other == 5)
        pthread_mutex_lock(&n);
    pthread_mutex_unlock(&n);
    pthread_join(t, 0);
    other = 5;
    pthread_mutex_lock(&n);
    if (other == 5)
        pthread_mutex_lock(&n);
    return 0;
}
"""


@pytest.mark.parametrize(("compared", "line"), [("==", 11), ("<", 21)])
def test_a_thread_that_waits_for_itself_is_said_to_wait_where_it_does(compared: str, line: int) -> None:
    program = pipeline.load_text(SourceText("stuck.c", STUCK.replace("OF", compared)))
    result = check(program, CheckOptions(model="sc"))
    assert finding_text(result) == f"DEADLOCK: `main` waits for ever (line {line})"
