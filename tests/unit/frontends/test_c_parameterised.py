"""C threads of which there may be any number: what is one program with all of them, and what is refused."""

from __future__ import annotations

import pytest

import memfence
from memfence import pipeline
from memfence.diagnostics import InputError
from memfence.program.load_options import LoadOptions
from memfence.program.parameterised import instances_of, resized
from memfence.source import SourceText
from memfence.tasks.evidence import CounterexampleRun, FewThreads, Parameterised
from support.c_compiler import needs_clang

pytestmark = needs_clang

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);
static atomic_int taken, seen;
static int inside;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static _Thread_local int own;
static int *found;
"""
LOCKED = "while (atomic_exchange(&taken, 1)); inside++; assert(inside == 1); inside--; atomic_store(&taken, 0);"
FOR_EVER = "pthread_t t; for (;;) pthread_create(&t, 0, worker, 0);"
UP_TO_N = "int n = __VERIFIER_nondet_int(); pthread_t t; for (int i = 0; i < n; i++) pthread_create(&t, 0, worker, 0);"


def text(worker: str, main: str = FOR_EVER) -> SourceText:
    code = (
        f"{HEAD}static void *worker(void *argument) {{ {worker} return 0; }}\nint main(void) {{ {main} return 0; }}\n"
    )
    return SourceText("instances.c", code)


def check(worker: str, main: str = FOR_EVER, **keywords):
    keywords.setdefault("any_number", ("worker",))
    return memfence.check(text(worker, main), criterion="safety", timeout_seconds=60, **keywords)


@pytest.mark.parametrize(
    "worker",
    [
        LOCKED,
        "pthread_mutex_lock(&mutex); inside++; assert(inside == 1); inside--; pthread_mutex_unlock(&mutex);",
        "own++; assert(own == 1); atomic_store(&seen, own);",
        "int *mine = malloc(sizeof *mine); *mine = 3; atomic_store(&seen, 1); assert(*mine == 3); free(mine);",
        "int mine = 0, *p = &mine; *p = 2; atomic_store(&seen, 1); assert(mine == 2);",
        "pthread_mutex_lock(&mutex); while (!inside) { inside = 1; pthread_cond_wait(&condition, &mutex); }"
        " assert(inside == 1); pthread_mutex_unlock(&mutex);",
    ],
    ids=["lock", "mutex", "thread-local", "heap", "stack", "condition"],
)
def test_threads_that_are_alike_are_proved_for_any_number(worker):
    result = check(worker)
    assert result.verdict == "holds"
    assert isinstance(result.evidence, Parameterised)
    assert any("deadlocks are not looked for" in line for line in result.program.assumed)


@pytest.mark.parametrize("main", [FOR_EVER, UP_TO_N])
def test_a_run_has_the_smallest_number_of_threads(main):
    result = check("if (atomic_fetch_add(&seen, 1) == 2) assert(0);", main)
    assert result.verdict == "violated"
    assert isinstance(result.evidence, CounterexampleRun)
    assert result.evidence.threads == (("worker", 3),)
    assert all(step.failure is None for step in result.trace.steps[:-1])


@pytest.mark.parametrize("main", [FOR_EVER, UP_TO_N])
def test_a_loop_without_a_known_end_is_about_any_number_without_being_asked(main):
    assert isinstance(check(LOCKED, main, any_number=()).evidence, Parameterised)


@pytest.mark.parametrize(
    "main",
    [
        "pthread_t t; int n = __VERIFIER_nondet_int(); if (n > 5) return 1;"
        " for (int i = 0; i < n; i++) pthread_create(&t, 0, worker, 0);",
        "pthread_t t; int n = __VERIFIER_nondet_int(); __VERIFIER_assume(n < 5);"
        " for (int i = 0; i < n; i++) pthread_create(&t, 0, worker, 0);",
        "pthread_t t; int n = __VERIFIER_nondet_int(); atomic_store(&seen, n);"
        " for (int i = 0; i < n; i++) pthread_create(&t, 0, worker, 0);",
    ],
    ids=["left early", "assumed", "stored"],
)
def test_a_number_that_says_more_than_when_the_loop_ends_is_not_forgotten(main):
    result = check(f"if (atomic_load(&seen)) own = 1; {LOCKED}", main)
    assert any("nondeterministic integers" in note for note in result.program.notes)


def test_no_run_has_more_threads_than_are_ever_created():
    main = UP_TO_N.replace("i < n", "i < n && i < 3")
    worker = "if (atomic_fetch_add(&seen, 1) == {}) assert(0);"
    assert check(worker.format(3), main, any_number=()).verdict == "holds_up_to"
    assert check(worker.format(2), main, any_number=()).verdict == "violated"


def test_joining_waits_for_all_threads():
    join = "pthread_t a; pthread_create(&a, 0, worker, 0); pthread_join(a, 0); assert(atomic_load(&seen) == 0);"
    worker = "atomic_store(&seen, 1); atomic_store(&seen, 0);"
    result = check(worker, join)
    assert result.verdict == "holds_up_to"
    assert isinstance(result.evidence, FewThreads)
    assert check("atomic_store(&seen, 1);", join).verdict == "violated"


def test_a_join_of_n_threads_is_a_condition_on_all_n():
    join = "pthread_t a; pthread_create(&a, 0, worker, 0); pthread_join(a, 0);"
    program = pipeline.load_text(text(LOCKED, join), LoadOptions(any_number=("worker",)))
    for threads in (1, 2, 5):
        whole = resized(program, {"worker": threads}).program
        assert len(instances_of(whole, "worker")) == threads
        main = whole.processes[0]
        waits = [op for t in main.transitions for op in t.ops if "At(" in repr(op)]
        assert [repr(op).count("At(") for op in waits] == [threads]


@pytest.mark.parametrize(
    ("worker", "main", "why"),
    [
        ("int mine; found = &mine;", FOR_EVER, "memory of one of them"),
        ("found = malloc(4);", FOR_EVER, "memory of one of them"),
        ("own = (int)pthread_self();", FOR_EVER, "its own number"),
        (
            "atomic_store(&seen, (int)(long)argument);",
            "pthread_t t; for (long i = 0; i < 20; i++) pthread_create(&t, 0, worker, (void *)i);",
            "different arguments",
        ),
        ("", "pthread_t t; void *r; pthread_create(&t, 0, worker, 0); pthread_join(t, &r);", "their results"),
        (
            "pthread_mutex_lock(argument);",
            "pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);"
            " pthread_mutex_init(&mutex, &a); pthread_t t; for (;;) pthread_create(&t, 0, worker, &mutex);",
            "recursive mutex",
        ),
    ],
    ids=["stack", "heap", "self", "arguments", "results", "recursive"],
)
def test_what_tells_threads_apart_is_refused_by_name(worker, main, why):
    with pytest.raises(InputError) as refused:
        check(worker, main)
    (found,) = refused.value.diagnostics
    assert (found.code.id, why in found.message) == ("MF118", True)


def test_arguments_that_nobody_uses_may_differ():
    main = "pthread_t t; for (long i = 0; i < 20; i++) pthread_create(&t, 0, worker, (void *)i);"
    assert check(LOCKED, main).verdict == "holds"


def test_a_thread_may_get_any_of_few_arguments():
    main = "pthread_t t; for (;;) { pthread_create(&t, 0, worker, 0); pthread_create(&t, 0, worker, &inside); }"
    assert check("if (argument) assert(argument == &inside);", main).verdict == "holds"
    assert check("assert(!argument);", main).verdict == "violated"


def test_a_thread_that_is_never_created_is_no_deadlock():
    main = "pthread_t t; if (__VERIFIER_nondet_int()) pthread_create(&t, 0, worker, 0);"
    assert check(LOCKED, main, any_number=()).verdict == "holds"


def test_a_counter_that_grows_without_end_is_checked_for_few_threads():
    result = check("assert(atomic_fetch_add(&seen, 1) >= 0);")
    assert isinstance(result.evidence, FewThreads)
