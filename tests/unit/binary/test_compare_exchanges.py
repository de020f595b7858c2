"""Compare-exchanges load what they expect, and store there what they found: accesses of shared memory, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memfence.api.run import run
from memfence.binary.build import Sources, build_program
from memfence.deadline import Deadline
from memfence.questions.run import explore_buffers
from memfence.questions.run_result import RunOptions, RunResult
from memfence.tasks.answer import Verdict
from support.run_programs import HEAD, run_text, two_threads

LOOK = "#define LOOK(what) { __typeof__(what) seen = what; (void)seen; }\n"
ADD = "static void add(int *e) { *e = atomic_load(&top); while (!atomic_compare_exchange_%s(&top, e, *e + 1)) ; }"
PUSH = """
struct node { struct node *next; };
static _Atomic(struct node *) top;
static struct node nodes[2];
static void push(struct node *n)
{
    n->next = atomic_load_explicit(&top, memory_order_relaxed);
    while (!atomic_compare_exchange_%s_explicit(&top, &n->next, n, memory_order_release, memory_order_relaxed)) ;
}
"""
POP = "struct node *n = atomic_load(&top); while (n && !atomic_compare_exchange_weak(&top, &n, n->next)) ;"
# Nothing fails, and nobody waits for ever: declarations, and what the threads do.
RIGHT = {
    "counter": (
        "static atomic_int top; static int e;" + ADD,
        ("add(&e);", "LOOK(e) atomic_fetch_add(&top, 1);"),
    ),
    "counters": (
        "static atomic_int top; static int e[2];" + ADD,
        ("add(&e[0]);", "add(&e[1]); LOOK(e[0])"),
    ),
    "pushes": (PUSH, ("push(&nodes[0]);", "push(&nodes[1]); LOOK(nodes[0].next)")),
    "push and pop": (PUSH, ("push(&nodes[0]);", POP)),
    "two pushes and a pop": (PUSH, ("push(&nodes[0]);", "push(&nodes[1]);", POP)),
    "one's own store": (
        "static atomic_int top = 1; static int e, f;",
        (
            "e = 1; f = 2; int same = atomic_compare_exchange_strong(&top, &e, 5); assert(same);",
            "LOOK(e + f)",
        ),
    ),
}
STORE_BUFFERING_TO_A_LOCK = two_threads(
    LOOK + "volatile int x, y; atomic_int held; int e[2];\n"
    "static void take(int *e) { int free = 0; *e = 0; atomic_compare_exchange_%s(&held, e, 0);\n"
    "    while (!atomic_compare_exchange_%s(&held, &free, 1)) free = 0; }",
    "x = 1; if (!y) take(&e[0]);",
    "y = 1; if (!x) take(&e[1]); LOOK(e[0])",
)


def threads(declarations: str, bodies: tuple[str, ...]) -> str:
    count = len(bodies)
    texts = "".join(f"static void *t{i}(void *unused) {{ {body} return 0; }}\n" for i, body in enumerate(bodies))
    creates = "".join(f"    pthread_create(&t[{i}], 0, t{i}, 0);\n" for i in range(count))
    return (
        f"{HEAD}{LOOK}{declarations}\n{texts}int main(void)\n{{\n    pthread_t t[{count}];\n{creates}"
        f"    for (int i = 0; i < {count}; i++) pthread_join(t[i], 0);\n    return 0;\n}}\n"
    )


def with_buffers(folder: Path, text: str, model: str) -> RunResult:
    (folder / "program.c").write_text(text)
    program = build_program(Sources(files=(str(folder / "program.c"),)), folder)
    return explore_buffers(program, ("program.c",), RunOptions(model=model), Deadline(60))


@pytest.mark.parametrize("model", ["tso", "pso"])
@pytest.mark.parametrize("kind", ["weak", "strong"])
@pytest.mark.parametrize("name", RIGHT)
def test_with_store_buffers_a_retry_succeeds(tmp_path: Path, name: str, kind: str, model: str) -> None:
    declarations, bodies = RIGHT[name]
    text = threads(declarations % kind if "%s" in declarations else declarations, bodies)
    result = with_buffers(tmp_path, text, model)
    assert result.findings == () and result.counts.executions > 1
    assert run_text(tmp_path, text, model=model).verdict is not Verdict.VIOLATED


@pytest.mark.parametrize("kind", ["weak", "strong"])
def test_a_deadlock_that_only_buffers_show_is_found_behind_compare_exchanges(tmp_path: Path, kind: str) -> None:
    text = STORE_BUFFERING_TO_A_LOCK % (kind, kind)
    assert run_text(tmp_path, text, model="sc").verdict is not Verdict.VIOLATED
    for model in ("tso", "pso"):
        result = with_buffers(tmp_path, text, model)
        assert [finding.cause for finding in result.findings] == ["deadlock"], model


@pytest.mark.parametrize("seen", [0, 1])
@pytest.mark.parametrize("kind", ["weak", "strong"])
def test_others_see_what_a_failed_one_has_left_before_and_after(tmp_path: Path, kind: str, seen: int) -> None:
    text = two_threads(
        "atomic_int top = 1; int e;",
        f"atomic_compare_exchange_{kind}(&top, &e, 5);",
        f"assert(e != {seen});",
    )
    for model in ("sc", "tso", "pso"):
        assert run_text(tmp_path, text, model=model).verdict is Verdict.VIOLATED, model
    steps = run(tmp_path / "program.c", model="sc")
    assert {(step["kind"], step["variable"]) for step in json.loads(steps.to_json())["findings"][0]["steps"]} >= {
        ("load", "e")
    }


@pytest.mark.parametrize("kind", ["weak", "strong"])
def test_what_is_expected_may_change_before_it_is_compared(tmp_path: Path, kind: str) -> None:
    """The load comes first, so that a store of the other thread may lie between it and the comparison."""
    text = two_threads(
        "atomic_int top = 1, stored; int e = 1;",
        f"int same = atomic_compare_exchange_{kind}(&top, &e, 5); assert(same || !atomic_load(&stored) || e != 1);",
        "e = 2; atomic_store(&stored, 1);",
    )
    assert run_text(tmp_path, text, model="sc").verdict is Verdict.VIOLATED
