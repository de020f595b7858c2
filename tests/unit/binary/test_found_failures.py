"""Whatever a program does wrong ends in a finding or a clear message: never in a hang, never in a fault of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.diagnostics import InputError
from memfence.tasks.answer import Verdict
from support.run_programs import HEAD, run_text, two_threads

CAUSES = {
    "crash": ("", "*(volatile int *)0 = 1;"),
    "assertion": ("volatile int x;", "assert(x == 1);"),
    "abort": ("", "abort();"),
    "double free": ("", "void *p = malloc(8); free(p); free(p);"),
    "bad free": ("int x;", "free(&x);"),
    "use after free": ("", "volatile int *p = malloc(8); free((void *)p); *p = 1;"),
    "out of bounds": ("", "volatile int *p = malloc(16); p[4] = 1;"),
    "exit status": ("", "exit(3);"),
    "stack overflow": (
        "static int deep(int n) { volatile char a[4096]; a[0] = n; return deep(n + 1) + a[0]; }",
        "deep(0);",
    ),
    "endless loop": ("", "for (;;) ;"),
    "misuse": ("pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;", "pthread_mutex_unlock(&m);"),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_a_mistake_is_found_with_its_place(tmp_path: Path, cause: str) -> None:
    declarations, body = CAUSES[cause]
    result = run_text(tmp_path, two_threads(declarations, body, ""), hang_seconds=0.25, timeout_seconds=20)
    assert result.verdict is Verdict.VIOLATED
    (finding,) = result.findings
    assert (finding.kind, finding.cause, finding.thread) == ("failure", cause, 1)
    assert finding.place.path.endswith("program.c") and finding.place.function in ("one", "deep")


def test_a_lock_in_freed_memory_is_used_after_free(tmp_path: Path) -> None:
    """Also where another thread frees it between two calls: freeing is a step for those who lock it."""
    declarations = "static pthread_mutex_t *m;\n__attribute__((constructor)) static void make(void) { MAKE }"
    made = declarations.replace("MAKE", "m = malloc(sizeof *m); pthread_mutex_init(m, 0);")
    held = two_threads(made, "pthread_mutex_lock(m); free(m); pthread_mutex_unlock(m);", "")
    between = two_threads(made, "pthread_mutex_lock(m); pthread_mutex_unlock(m);", "free(m);")
    for text in (held, between):
        result = run_text(tmp_path, text)
        assert {finding.cause for finding in result.findings} == {"use after free"}


LOCKS = {
    "mutex": ("pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;", "lock", "unlock"),
    "rwlock": ("pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;", "wrlock", "unlock"),
    "reading": ("pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;", "rdlock", "unlock"),
    "spin": ("pthread_spinlock_t l;", "lock", "unlock"),
}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_destroyed_when_nobody_holds_it(tmp_path: Path, name: str) -> None:
    declaration, lock, unlock = LOCKS[name]
    kind = "rwlock" if name == "reading" else name
    own = f"pthread_{kind}_{lock}(&l); pthread_{kind}_{unlock}(&l); AFTER"
    waits = f"while (!atomic_load(&in)) ; pthread_{kind}_destroy(&l);"
    text = two_threads(f"static {declaration} static atomic_int in;", own, waits)
    free = run_text(tmp_path, text.replace("AFTER", "atomic_store(&in, 1);"))
    assert free.verdict is Verdict.HOLDS
    held = text.replace("AFTER", "").replace(f"{lock}(&l);", f"{lock}(&l); atomic_store(&in, 1);", 1)
    (finding,) = run_text(tmp_path, held).findings
    assert (finding.cause, finding.thread) == ("misuse", 2) and "destruction of a locked" in finding.message


def test_a_thread_that_runs_on_is_wrong_where_the_process_waits_for_it(tmp_path: Path) -> None:
    loop = two_threads("atomic_int stop, work;", "while (!stop) work++;", "")
    waited = run_text(tmp_path, loop, hang_seconds=0.25)
    (finding,) = waited.findings
    assert (finding.cause, finding.thread, finding.place.function) == ("endless loop", 1, "one")
    detached = loop.replace("pthread_join(a, 0);", "pthread_detach(a);")
    assert run_text(tmp_path, detached, hang_seconds=0.25).verdict is Verdict.HOLDS


def test_no_time_is_no_answer(tmp_path: Path) -> None:
    result = run_text(tmp_path, two_threads("", "", ""), timeout_seconds=0)
    assert (result.verdict, result.counts.executions) == (Verdict.UNKNOWN, 0)


def test_a_value_that_nobody_gives_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`__VERIFIER_nondet_int` may return any value"):
        run_text(tmp_path, two_threads("int __VERIFIER_nondet_int(void);", "__VERIFIER_nondet_int();", ""))


@pytest.mark.parametrize("body", ["fork();", 'system("true");', "int ends[2]; pipe(ends);"])
def test_what_cannot_be_explored_is_said_and_is_no_verdict(tmp_path: Path, body: str) -> None:
    result = run_text(tmp_path, two_threads("#include <signal.h>", body, ""))
    assert result.verdict is Verdict.UNKNOWN
    (finding,) = result.findings
    assert finding.cause == "unsupported" and "cannot be explored" in finding.message


def test_a_deadlock_shows_who_waits_where(tmp_path: Path) -> None:
    locks = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;"
    take = "pthread_mutex_lock(&{0}); pthread_mutex_lock(&{1}); pthread_mutex_unlock(&{1}); pthread_mutex_unlock(&{0});"
    result = run_text(tmp_path, two_threads(locks, take.format("m", "n"), take.format("n", "m")))
    (finding,) = result.findings
    assert finding.kind == "deadlock" and result.counts.executions == 3
    waits = {(step.thread, step.name, step.variable) for step in finding.waiting}
    assert {(1, "pthread_mutex_lock", "n"), (2, "pthread_mutex_lock", "m")} <= waits


def test_a_lost_wake_up_is_called_so(tmp_path: Path) -> None:
    text = two_threads(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER;",
        "pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&m); pthread_cond_signal(&c); pthread_mutex_unlock(&m);",
    )
    assert {finding.kind for finding in run_text(tmp_path, text).findings} == {"lost wake-up"}


def test_a_thread_that_spins_for_ever_is_a_deadlock(tmp_path: Path) -> None:
    result = run_text(tmp_path, two_threads("volatile int flag, x;", "while (!flag) ;", "x = flag; flag = 0;"))
    assert {finding.kind for finding in result.findings} == {"deadlock"}


def test_use_of_memory_that_another_thread_frees_is_found(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
    static volatile int *p;
    static void *one(void *unused) { return (void *)(long)*p; }
    int main(void) {
        pthread_t a;
        p = malloc(sizeof *p);
        pthread_create(&a, 0, one, 0);
        free((void *)p);
        pthread_join(a, 0);
        return 0;
    }
    """
    )
    result = run_text(tmp_path, text)
    assert [finding.cause for finding in result.findings] == ["use after free"]
    assert result.counts.executions == 2 and result.counts.failing == 1


def test_returning_from_main_ends_the_other_threads(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
    static volatile int x;
    static void *one(void *unused) { x = 1; x = 2; return 0; }
    int main(void) {
        pthread_t a;
        pthread_create(&a, 0, one, 0);
        assert(x != 2);
        return 0;
    }
    """
    )
    result = run_text(tmp_path, text)
    assert [finding.cause for finding in result.findings] == ["assertion"]


def test_a_borderline_execution_is_confirmed_where_something_goes_wrong(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
    static volatile int x, y, r, s;
    static void *one(void *unused) { x = 1; r = y; return 0; }
    static void *two(void *unused) { y = 1; s = x; return 0; }
    int main(void) {
        pthread_t a, b;
        pthread_create(&a, 0, one, 0);
        pthread_create(&b, 0, two, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
        assert(r || s);
        return 0;
    }
    """
    )
    result = run_text(tmp_path, text)
    assert result.counts.failing == 0 and result.confirmed == 2
    for finding in result.findings:
        assert finding.confirmation is not None and finding.confirmation.kind == "assertion"
        assert "flush" in {step.kind for step in finding.confirmation.steps}


def test_endless_executions_are_cut_off_and_decide_nothing(tmp_path: Path) -> None:
    text = two_threads("volatile int x;", "for (;;) x = !x;", "x = 2;")
    result = run_text(tmp_path, text, depth=30)
    assert result.verdict is Verdict.HOLDS_UP_TO and result.counts.truncated > 0


def test_the_time_limit_ends_it_without_a_verdict(tmp_path: Path) -> None:
    body = "for (int i = 0; i < 60; i++) n++;"
    result = run_text(tmp_path, two_threads("atomic_int n;", body, body), timeout_seconds=1)
    assert result.verdict is Verdict.UNKNOWN and result.counts.out_of_time


MESSAGE = two_threads(
    "volatile int data; atomic_int flag;",
    "data = 1; atomic_store_explicit(&flag, 1, memory_order_{order});",
    "if (atomic_load(&flag)) assert(data == 1);",
)


@pytest.mark.parametrize("order", ["relaxed", "release"])
def test_stores_that_overtake_stores_are_found_under_pso_and_their_order_is_proved(tmp_path: Path, order: str) -> None:
    text = MESSAGE.replace("{order}", order)
    assert run_text(tmp_path, text).verdict is Verdict.HOLDS
    result = run_text(tmp_path, text, model="pso")
    if order == "relaxed":
        assert result.verdict is Verdict.VIOLATED and [f.cause for f in result.findings] == ["assertion"]
        assert "flush" in {step.kind for step in result.findings[0].steps}
    else:
        assert result.verdict is Verdict.HOLDS and result.is_simulation_complete and result.simulated
        at_random = run_text(tmp_path, text, model="pso", random=20)
        assert at_random.verdict is Verdict.HOLDS_UP_TO and at_random.simulated


LEAK = two_threads(
    "int *kept; volatile int turn; static void make(void) { int *p = malloc(4); if (!kept) kept = p; }",
    "if (turn == 0) free(malloc(8)); else make();",
    "turn = 1; make();",
)


def test_memory_that_nothing_leads_to_any_more_is_a_warning_and_an_error_if_asked_for(tmp_path: Path) -> None:
    result = run_text(tmp_path, LEAK)
    assert [(leak.bytes, leak.place.function) for leak in result.leaks] == [(4, "make")] and not result.findings
    asked = run_text(tmp_path, LEAK, leaks=True)
    assert asked.verdict is Verdict.VIOLATED and [finding.cause for finding in asked.findings] == ["leak"]
    kept = LEAK.replace("turn = 1; make();", "turn = 1;").replace("else make();", "else free(malloc(8));")
    assert run_text(tmp_path, kept.replace("volatile int turn;", "volatile int turn; int *more;")).leaks == ()
