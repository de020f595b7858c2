"""Which executions a compiled program has, and which of them are borderline."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.tasks.answer import Verdict
from support.run_programs import HEAD, STORE_BUFFERING, STORE_BUFFERING_FENCED, run_text, two_threads

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "run"


def test_store_buffering_takes_three_executions_and_is_borderline(tmp_path: Path) -> None:
    result = run_text(tmp_path, STORE_BUFFERING)
    assert result.verdict is Verdict.VIOLATED and result.is_robust is False
    assert result.confirmed == 0, "nothing goes wrong: it asserts nothing"
    assert (result.counts.executions, result.counts.borderline, result.counts.failing) == (3, 2, 0)
    assert {finding.kind for finding in result.findings} == {"borderline"}


def test_each_borderline_execution_asks_for_the_two_fences_that_make_it_safe(tmp_path: Path) -> None:
    for finding in run_text(tmp_path, STORE_BUFFERING).findings:
        assert finding.stale is not None
        pairs = {(fence.after.variable, fence.before.variable) for fence in finding.stale.fences}
        assert pairs == {("x", "y"), ("y", "x")}
    assert run_text(tmp_path, STORE_BUFFERING_FENCED).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    "fence",
    [
        "_mm_mfence();",
        '__asm__ __volatile__("mfence" ::: "memory");',
        '__asm__ __volatile__("lock; orl $0, (%%rsp)" ::: "memory", "cc");',
        "static _Atomic int z; atomic_fetch_add_explicit(&z, 1, memory_order_relaxed);",
    ],
)
def test_every_way_to_write_a_full_fence_is_seen(tmp_path: Path, fence: str) -> None:
    text = two_threads(
        "#include <immintrin.h>\nvolatile int x, y, r, s;", f"x = 1; {fence} r = y;", f"y = 1; {fence} s = x;"
    )
    assert run_text(tmp_path, text).verdict is Verdict.HOLDS


@pytest.mark.parametrize("kind", ["seq_cst", "release"])
def test_only_a_sequentially_consistent_store_is_a_fence(tmp_path: Path, kind: str) -> None:
    def store(name: str) -> str:
        return f"atomic_store_explicit(&{name}, 1, memory_order_{kind});"

    text = two_threads("atomic_int x, y, r, s;", f"{store('x')} r = y;", f"{store('y')} s = x;")
    assert run_text(tmp_path, text).verdict is (Verdict.HOLDS if kind == "seq_cst" else Verdict.VIOLATED)


def test_threads_begin_again_after_all_others_were_joined(tmp_path: Path) -> None:
    text = two_threads("atomic_int x;", "int old = x; x = old + 1;", "int old = x; x = old + 1;")
    again = "    pthread_create(&a, 0, one, 0); pthread_join(a, 0);\n"
    longer = text.replace("    return 0;\n}", f"{again}{again}    assert(x >= 3);\n    return 0;\n}}")
    assert longer != text
    result = run_text(tmp_path, longer)
    assert result.verdict is Verdict.HOLDS
    assert result.counts.executions == run_text(tmp_path, text).counts.executions


def test_a_spinning_thread_waits_until_what_it_reads_changes(tmp_path: Path) -> None:
    text = two_threads("volatile int flag, data;", "data = 1; flag = 1;", "while (!flag) ; assert(data == 1);")
    result = run_text(tmp_path, text)
    assert result.verdict is Verdict.HOLDS and result.counts.executions <= 6


def test_a_loop_that_counts_is_not_taken_for_one_that_waits(tmp_path: Path) -> None:
    text = two_threads("volatile int flag, seen;", "for (int i = 0; i < 5; i++) seen += flag;", "flag = 1;")
    result = run_text(tmp_path, text)
    assert result.verdict is Verdict.HOLDS and result.counts.executions == 6


def test_locks_order_everything_and_each_order_is_tried(tmp_path: Path) -> None:
    body = "pthread_mutex_lock(&m); order = order * 10 + {}; pthread_mutex_unlock(&m);"
    text = two_threads("pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int order;", body.format(1), body.format(2))
    result = run_text(tmp_path, text)
    assert result.verdict is Verdict.HOLDS and result.counts.executions == 2


def test_threads_that_create_threads_keep_their_numbers(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
    atomic_int sum;
    static void *leaf(void *n) { sum += (long)n; return 0; }
    static void *branch(void *n) {
        pthread_t t;
        pthread_create(&t, 0, leaf, n);
        pthread_join(t, 0);
        return 0;
    }
    int main(void) {
        pthread_t t[2];
        for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, branch, (void *)(i + 1));
        for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
        assert(sum == 3);
        return 0;
    }
    """
    )
    result = run_text(tmp_path, text)
    assert result.verdict is Verdict.HOLDS and result.counts.executions == 2 and result.counts.threads == 5


def test_a_bound_on_preemptions_is_named_and_no_proof(tmp_path: Path) -> None:
    body = "for (int i = 0; i < 3; i++) n++;"
    text = two_threads("atomic_int n;", body, body)
    bounded = run_text(tmp_path, text, preemptions=1)
    assert bounded.verdict is Verdict.HOLDS_UP_TO and not bounded.counts.reduced
    assert run_text(tmp_path, text).verdict is Verdict.HOLDS


def test_random_executions_are_no_proof_and_find_the_borderline_one(tmp_path: Path) -> None:
    found = run_text(tmp_path, STORE_BUFFERING, random=50, seed=7)
    assert found.is_robust is False and found.counts.executions == 50
    fenced = run_text(tmp_path, STORE_BUFFERING_FENCED, random=50, seed=7)
    assert fenced.verdict is Verdict.HOLDS_UP_TO
    assert run_text(tmp_path, STORE_BUFFERING, random=50, seed=7).findings == found.findings
    shared = run_text(tmp_path, STORE_BUFFERING, random=50, seed=7, threads=2)
    assert shared.counts.executions == 50 and shared.is_robust is False and len(shared.findings) == 2


SHARED_TREES = {
    "dekker": None,
    "wrong": two_threads("volatile int x, y;", "x = 1; assert(y < 2); y = 1;", "y = 2; x = 2; y = x;"),
    "stuck": two_threads(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER; volatile int x;",
        "pthread_mutex_lock(&m); x = 1; pthread_mutex_lock(&n); x = 2;",
        "pthread_mutex_lock(&n); x = 3; pthread_mutex_lock(&m); x = 4;",
    ),
}


@pytest.mark.parametrize("name", SHARED_TREES)
@pytest.mark.parametrize("preemptions", [None, 1])
def test_processes_that_share_the_tree_find_what_one_finds(tmp_path: Path, name: str, preemptions: int | None) -> None:
    text = SHARED_TREES[name] or (EXAMPLES / "dekker.c").read_text()

    def numbers(threads: int) -> tuple[object, ...]:
        include = (str(EXAMPLES),)
        result = run_text(tmp_path, text, include=include, threads=threads, preemptions=preemptions, confirm=False)
        counts = result.counts
        kinds = {(finding.kind, finding.cause, finding.thread) for finding in result.findings}
        outcomes = (counts.executions, counts.borderline, counts.failing, counts.deadlocked, counts.truncated)
        return result.verdict, *outcomes, kinds

    alone = numbers(1)
    assert numbers(2) == alone and numbers(3) == alone


def test_memory_that_only_one_thread_touches_makes_no_steps(tmp_path: Path) -> None:
    text = two_threads(
        "int a[64], b[64];", "for (int i = 0; i < 64; i++) a[i] = i;", "for (int i = 0; i < 64; i++) b[i] = i;"
    )
    result = run_text(tmp_path, text)
    assert result.verdict is Verdict.HOLDS and result.counts.steps < 40


def test_objects_on_a_stack_may_be_shared(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
    struct pair { volatile int x, y; };
    static void *one(void *p) { struct pair *s = p; s->x = 1; return (void *)(long)s->y; }
    int main(void) {
        struct pair s = {0, 0};
        pthread_t a;
        pthread_create(&a, 0, one, &s);
        s.y = 1;
        int seen = s.x;
        pthread_join(a, 0);
        return seen == 7;
    }
    """
    )
    assert run_text(tmp_path, text).counts.borderline == 2


def test_fields_of_different_sizes_that_overlap_are_one_cell(tmp_path: Path) -> None:
    text = two_threads(
        "union { volatile int whole; volatile char bytes[4]; } u;", "u.whole = 0x01010101;", "assert(u.bytes[2] < 2);"
    )
    result = run_text(tmp_path, text)
    assert result.verdict is Verdict.HOLDS and result.counts.executions == 2


def test_plain_accesses_that_nothing_orders_are_warned_about(tmp_path: Path) -> None:
    racy = run_text(tmp_path, two_threads("int x;", "x = 1;", "int r = x; (void)r;"))
    assert racy.verdict is Verdict.HOLDS
    (race,) = racy.races
    assert {race.first.variable, race.second.variable} == {"x"} and {race.first.kind, race.second.kind} == {
        "store",
        "load",
    }
    lock, unlock = "pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"
    locked = two_threads("pthread_mutex_t m; int x;", f"{lock} x = 1; {unlock}", f"{lock} x = 2; {unlock}")
    assert run_text(tmp_path, locked).races == ()
    handed = two_threads("int x; atomic_int flag;", "x = 1; flag = 1;", "if (flag) x = 2;")
    assert run_text(tmp_path, handed).races == ()
    assert run_text(tmp_path, two_threads("volatile int x;", "x = 1;", "x = 2;")).races == ()


def test_what_is_handed_over_by_a_loop_that_waits_does_not_race(tmp_path: Path) -> None:
    give = "slot = 1; atomic_store_explicit(&head, 1, memory_order_release);"
    give += " while (!atomic_load_explicit(&tail, memory_order_acquire)); slot = 3;"
    take = "while (!atomic_load_explicit(&head, memory_order_acquire)); int seen = slot; (void)seen;"
    take += " atomic_store_explicit(&tail, 1, memory_order_release);"
    assert run_text(tmp_path, two_threads("int slot; atomic_int head, tail;", give, take)).races == ()


@pytest.mark.parametrize(
    ("model", "expected"), [("sc", Verdict.HOLDS), ("x86", Verdict.VIOLATED), ("pso", Verdict.HOLDS)]
)
def test_without_store_buffers_no_load_is_stale(tmp_path: Path, model: str, expected: Verdict) -> None:
    """Nothing is asserted: TSO is asked whether the program is robust, PSO whether an execution goes wrong."""
    result = run_text(tmp_path, STORE_BUFFERING, model=model)
    assert result.verdict is expected
    assert (result.counts.borderline > 0) is (model != "sc")
    assert result.is_robust is (None if model == "sc" else False)
