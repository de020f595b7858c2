"""HOLDS that says less than it seems to: what memfence warns of, and that it warns of nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memfence.cli.exit_codes import Exit
from memfence.pipeline import load_text
from memfence.questions.random_walk import taken_on_walks
from memfence.source import SourceText
from support.c_compiler import needs_clang
from support.command_line import ROOT, memfence

DEAD = "bool go, x;\nactive proctype A() { go; x = true; assert(false) }\nactive proctype B() { x = true }\n"
NEVER = "byte x;\nactive proctype A() {\n  x = 1;\n  if\n  :: x == 2 -> x = 3\n  :: else\n  fi;\n  assert(x < 9)\n}\n"
PREMISE = "byte x;\nactive proctype A() { x = 1; inside: skip }\nactive proctype B() { x = 2 }\n"
FINE = "byte x;\nactive proctype A() { x = 1; assert(x > 0) }\nactive proctype B() { x = 2 }\n"
IDIOM = (
    "byte x;\nactive proctype A() { x = 1; if :: x > 2 -> assert(false) :: else fi }\nactive proctype B() { x = 2 }\n"
)


def codes(text: str, tmp_path: Path, *options: str) -> list[tuple[str, int]]:
    """The code and the line of each warning."""
    path = tmp_path / "model.pml"
    path.write_text(text)
    shown = json.loads(memfence("check", path, "--json", *options).stdout)
    return [(warning["code"], warning["line"]) for warning in shown["warnings"]]


def test_a_program_that_is_stuck_and_an_assertion_that_is_dead_are_warned_of(tmp_path: Path) -> None:
    assert codes(DEAD, tmp_path) == [("MF202", 2), ("MF203", 2), ("MF203", 2)]
    done = memfence("check", tmp_path / "model.pml")
    assert done.returncode == 0
    assert ": HOLDS under tso" in done.stdout
    assert "warning[MF202]: no process can move, but `A` has not ended: it waits at `go`" in done.stderr
    assert "warning[MF203]: `go` is never passed" in done.stderr
    assert "warning[MF203]: the assertion `assert(false)` is never reached" in done.stderr


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_a_branch_that_is_never_taken_is_warned_of(tmp_path: Path, model: str) -> None:
    assert codes(NEVER, tmp_path, "--model", model) == [("MF203", 5)]


def test_a_premise_that_is_never_true_is_warned_of(tmp_path: Path) -> None:
    assert codes(PREMISE, tmp_path, "--invariant", "x == 7 -> x == 8") == [("MF204", 1)]
    assert codes(PREMISE, tmp_path, "--invariant", "x == 2 -> x != 8") == []


NOWHERE = """byte x;
active proctype A() { x = 1; goto over; dead: x = 2; over: x = 3; end: skip }
active proctype B() { do :: x = 5 od; behind: skip }
"""


@pytest.mark.parametrize("place", ["A@dead", "B@behind"])
@pytest.mark.parametrize("others", ["", " && x == 1", " || x == 9"])
def test_a_label_that_nothing_leads_to_is_warned_of(tmp_path: Path, place: str, others: str) -> None:
    for option, stated in (("--forbid", f"{place}{others}"), ("--invariant", f"!({place}{others})")):
        found = codes(NOWHERE, tmp_path, option, stated)
        assert ("MF210", 1) in found and ("MF204", 1) not in found


def test_a_label_that_something_leads_to_is_not_warned_of(tmp_path: Path) -> None:
    for place in ("A@over", "A@end"):
        assert "MF210" not in dict(codes(NOWHERE, tmp_path, "--forbid", f"{place} && x == 9"))


def test_a_label_that_nothing_leads_to_is_warned_of_where_the_search_does_not_end(tmp_path: Path) -> None:
    assert ("MF210", 1) in codes(NOWHERE, tmp_path, "--forbid", "A@dead || x == 9", "--buffer-bound", "1", "--deadlock")


def test_a_label_that_is_never_reached_makes_a_forbidden_state_meaningless(tmp_path: Path) -> None:
    never = PREMISE.replace("x = 1;", "x == 9;")
    assert ("MF204", 1) in codes(never, tmp_path, "--forbid", "A@inside && x == 1")
    assert ("MF204", 1) not in codes(PREMISE, tmp_path, "--forbid", "A@inside && x == 7")


def test_a_program_with_nothing_to_check_under_sc_is_warned_of(tmp_path: Path) -> None:
    assert codes(PREMISE, tmp_path, "--model", "sc") == [("MF205", 1)]
    assert codes(PREMISE, tmp_path, "--model", "tso") == []


@pytest.mark.parametrize("text", [FINE, IDIOM])
def test_nothing_is_wrong_with_a_program_that_works(text: str, tmp_path: Path) -> None:
    assert codes(text, tmp_path) == []
    assert memfence("check", tmp_path / "model.pml", "--strict").returncode == Exit.HOLDS


def test_a_violation_needs_no_warning(tmp_path: Path) -> None:
    assert codes(FINE.replace("x > 0", "x > 3"), tmp_path) == []


def test_strict_makes_a_warning_exit_code_1(tmp_path: Path) -> None:
    path = tmp_path / "model.pml"
    path.write_text(DEAD)
    assert memfence("check", path, "--strict").returncode == Exit.VIOLATED
    assert memfence("check", path, "--strict", "--model", "pso", "-q").returncode == Exit.VIOLATED


def test_every_report_has_the_warnings(tmp_path: Path) -> None:
    path = tmp_path / "model.pml"
    path.write_text(DEAD)
    page, log = tmp_path / "r.html", tmp_path / "r.sarif"
    memfence("check", path, "--html", page, "--sarif", log)
    assert "no process can move" in page.read_text()
    notes = [one for one in json.loads(log.read_text())["runs"][0]["results"] if one["level"] == "note"]
    assert [one["ruleId"] for one in notes] == ["MF202", "MF203", "MF203"]


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.*")), ids=lambda path: path.name)
def test_the_examples_are_free_of_warnings(example: Path) -> None:
    if example.suffix in (".c", ".cpp", ".md"):
        pytest.skip("no model, or one that needs a compiler")
    shown = memfence("check", example, "--json", "--model", "sc", "--timeout", "20").stdout
    found = json.loads(shown).get("warnings", [])
    assert [one for one in found if re.match("MF20[234]", one["code"])] == []


@needs_clang
def test_a_test_in_c_that_is_decided_on_some_ways_is_no_branch_that_is_never_taken(tmp_path: Path) -> None:
    """Where `pop` finds the stack empty, `if (n)` is known to fail and leaves no step; elsewhere it never fails."""
    stack = tmp_path / "stack.c"
    stack.write_text(STACK_IN_C)
    shown = json.loads(memfence("check", stack, "--json").stdout)
    assert (shown["verdict"], shown["warnings"]) == ("holds", [])


STACK_IN_C = """\
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
static _Atomic(struct node *) top;
static struct node a = {1}, b = {2};
static void push(struct node *n) {
    struct node *old = atomic_load(&top);
    do n->next = old; while (!atomic_compare_exchange_weak(&top, &old, n));
}
static struct node *pop(void) {
    struct node *old = atomic_load(&top);
    while (old && !atomic_compare_exchange_weak(&top, &old, old->next)) {}
    return old;
}
static void *producer(void *unused) { push(&a); push(&b); return 0; }
static void *consumer(void *unused) { struct node *n = pop(); if (n) { if (n->value == 3) abort(); } return 0; }
int main(void) {
    pthread_t p, c;
    pthread_create(&p, 0, producer, 0);
    pthread_create(&c, 0, consumer, 0);
    pthread_join(p, 0);
    pthread_join(c, 0);
}
"""


@pytest.mark.parametrize("models", ["sc,tso", "x86"])
def test_a_list_of_models_with_nothing_to_check_is_warned_of(models: str, tmp_path: Path) -> None:
    text = "byte x, y;\nactive proctype A() { x = 1; y = x }\nactive proctype B() { y = 1; x = y }\n"
    assert codes(text, tmp_path, "--model", models) == [("MF205", 1)]
    path = tmp_path / "model.pml"
    assert memfence("check", path, "--model", models, "--strict", "-q").returncode == Exit.VIOLATED
    assert "a list of models has nothing to check" in memfence("check", path, "--model", models).stderr
    assert memfence("check", path, "--model", models, "--html", tmp_path / "a.html", "-q").returncode == 0
    assert "nothing is stated about this program" in (tmp_path / "a.html").read_text()
    assert codes(FINE, tmp_path, "--model", models) == []


def test_a_program_with_one_process_and_nothing_stated_is_warned_of(tmp_path: Path) -> None:
    assert codes("byte x;\nactive proctype A() { x = 1 }\n", tmp_path) == [("MF205", 1)]
    assert codes("byte x;\nactive proctype A() { x = 1; assert(x == 1) }\n", tmp_path) == []


@needs_clang
def test_an_assertion_in_c_that_no_run_comes_to_is_warned_of(tmp_path: Path) -> None:
    dead = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int x; static int d;\n"
    dead += "static void *w(void *a) { d = 1; atomic_store(&x, 1); assert(d == 1); return a; }\n"
    dead += "static void *r(void *a) {\n  if (atomic_load(&x) == 2)\n    assert(d == 2 && x);\n  return a; }\n"
    dead += "void unused(void) { assert(d == 7); }\n"
    dead += "int main(void) { pthread_t p, q; pthread_create(&p, 0, w, 0); pthread_create(&q, 0, r, 0);\n"
    dead += "pthread_join(p, 0); pthread_join(q, 0); assert(1 + 1 == 2); return 0; }\n"
    path = tmp_path / "dead.c"
    path.write_text(dead)
    done = memfence("check", path)
    assert done.returncode == 0 and done.stderr.count("warning[MF203]") == 1
    assert "warning[MF203]: the assertion `assert(d == 2 && x)` is never reached" in done.stderr
    path.write_text(dead.replace("== 2)\n", "== 1)\n").replace("d == 2 && x", "d == 1 && x"))
    assert memfence("check", path).stderr == ""


C_HEAD = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n"
C_MAIN = """
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, one, 0); pthread_create(&t, 0, two, 0);
    pthread_join(s, 0); pthread_join(t, 0);
    return 0;
}
"""
UNDER_LOCK = """
static atomic_int x, y;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *u) {
    check(3);
    pthread_mutex_lock(&m); x = 200; x = 7; x = 1; pthread_mutex_unlock(&m);
    return 0;
}
static void *two(void *u) {
    pthread_mutex_lock(&m); int a = x; pthread_mutex_unlock(&m);
    if (a > 5) { y = a; check(a); }
    return 0;
}
"""
REACHED = {
    "true by what is known in one of its copies": "static void check(int v) { assert(v != 7); }" + UNDER_LOCK,
    "an assertion of a verifier": (
        "void __VERIFIER_assert(int);\nstatic void check(int v) { __VERIFIER_assert(v != 7); }" + UNDER_LOCK
    ),
    "an alarm in a switch": """
static atomic_int x;
static void pick(int n) { if (n > 5) x = 3; switch (n) { case 0: break; case 1: x = 2; break; default: assert(0); } }
static void *one(void *u) { if (x == 0) pick(1); return 0; }
static void *two(void *u) { x = 1; return 0; }
""",
    "of a struct of the thread's own": """
static atomic_uint x;
static void *one(void *u) { x = 6; return 0; }
static void *two(void *u) {
    struct { unsigned v; } y;
    while (x == 0) {}
    y.v = x;
    assert(y.v / 2 == 3 && y.v % 5 == 1);
    return 0;
}
""",
    "of an array of the thread's own": """
static atomic_uint x;
static void *one(void *u) { x = 6; return 0; }
static void *two(void *u) {
    unsigned y[1];
    while (x == 0) {}
    y[0] = x;
    assert(y[0] / 2 == 3 && y[0] % 5 == 1);
    return 0;
}
""",
    "decided by its first part alone": """
static atomic_int x;
static void *one(void *u) {
    struct { int a, b; } y = {1, 2};
    assert(y.a || y.b);
    assert((y.a > 0 && y.b > 1) || y.a == 7);
    x = 1;
    return 0;
}
static void *two(void *u) { assert(x < 2); return 0; }
""",
    "an alarm behind a label": """
static atomic_int x;
static void *one(void *u) { x = 1; return 0; }
static void *two(void *u) { if (x > 1) goto bad; return 0; bad: x = 3; assert(0); return 0; }
""",
}
BEYOND_A_BOUND = """
static atomic_int x;
static void *one(void *u) {
    for (int i = 0; i < 9; i++) { int *p = malloc(4); *p = i; x = 1; free(p); }
    assert(x == 1);
    return 0;
}
static void *two(void *u) { int a = x; return 0; }
"""


@needs_clang
@pytest.mark.parametrize("kind", REACHED)
def test_an_assertion_that_some_run_comes_to_is_not_called_unreached(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "reached.c"
    path.write_text(C_HEAD + REACHED[kind] + C_MAIN)
    done = memfence("check", path, "--strict")
    assert done.returncode == 0 and "MF203" not in done.stderr


@needs_clang
def test_what_lies_beyond_a_bound_is_not_called_unreached(tmp_path: Path) -> None:
    path = tmp_path / "bounded.c"
    path.write_text(C_HEAD + BEYOND_A_BOUND + C_MAIN)
    done = memfence("check", path, "--heap-bound", "2")
    assert done.returncode == Exit.UNKNOWN and "NO VIOLATION" in done.stdout and "MF203" not in done.stderr


def test_a_condition_about_a_register_that_nobody_writes_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "t.litmus"
    path.write_text("X86 t\n{ x=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[x] ;\nexists (1:EBX=1 /\\ 1:EAX=1)\n")
    done = memfence("check", path)
    assert done.returncode == 0
    assert "warning[MF204]: no instruction of P1 writes `EBX`: it is 0 at every end" in done.stderr
    path.write_text(path.read_text().replace("EBX", "EAX"))
    assert memfence("check", path).stderr == ""


def test_split_reads_silences_nothing_but_the_warning_about_reads(tmp_path: Path) -> None:
    path = tmp_path / "model.pml"
    path.write_text("byte x, y;\nactive proctype A() { x = x + y; if :: x > 90 -> x = 3 :: else fi; assert(x < 9) }\n")
    assert memfence("check", path).stderr.count("warning[MF201]") == 1
    done = memfence("check", path, "--split-reads", "--strict")
    assert done.returncode == Exit.VIOLATED and "MF201" not in done.stderr and "warning[MF203]" in done.stderr


def test_walks_go_on_while_they_take_something_new() -> None:
    """Else every further statement of a long text costs a search of its own."""
    body = " ".join("r = (r * 3 + 1) % 4;" for _ in range(300))
    program = load_text(SourceText("long.pml", f"byte x; active proctype P() {{ byte r; r = x; {body} x = r }}"))
    assert taken_on_walks(program) == {(0, number) for number, _ in enumerate(program.processes[0].transitions)}
