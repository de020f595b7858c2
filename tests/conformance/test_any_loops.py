"""Locks, queues and hand-shakes that go on for ever: proved under C11, and found wrong with one order less."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from memfence import pipeline
from memfence.models.spec import Axioms
from memfence.program.ir import Program
from memfence.program.orders import MemoryOrder
from memfence.questions.any_loops import robustness
from memfence.questions.models import check_models
from memfence.report.describe.models_text import bound_text
from memfence.report.views.execution_view import failed_text
from memfence.source import SourceText
from memfence.strategy.portfolio import decide
from memfence.synthesis.options import FixOptions
from memfence.synthesis.orders.fix import fix_orders
from memfence.synthesis.result import FixVerdict
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Counterexample, OnlySc, SeesThePast
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import ModelAnswer
from memfence.tasks.task import Keeps, Task
from support.c_compiler import needs_clang
from support.sampling import listed

FOLDER = Path(__file__).with_name("any_loops")
ROWS = list(csv.DictReader((FOLDER / "table.csv").open()))
WEAKENED = [row for row in ROWS if row["weaker"]]
FEW = ("test_and_set.c", "ring.c", "peterson.c")

pytestmark = needs_clang


def weakened(row: dict[str, str]) -> Program:
    text = (FOLDER / row["file"]).read_text()
    assert text.count(row["than"]) >= 1
    return pipeline.load_text(SourceText(row["file"], text.replace(row["than"], row["weaker"], 1)))


def few(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [row for row in rows if row["file"] in FEW]


def others(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [row for row in rows if row["file"] not in FEW]


def test_every_program_is_in_the_table() -> None:
    assert sorted(row["file"] for row in ROWS) == sorted(path.name for path in FOLDER.glob("*.c"))


@listed("row", few(ROWS), others(ROWS), ids=lambda row: row["file"])
def test_it_is_proved_for_any_number_of_rounds(row: dict[str, str]) -> None:
    result = check_models(pipeline.load(FOLDER / row["file"]), ("rc11",), CheckOptions())
    (answer,) = result.answers
    assert answer.verdict is Verdict.HOLDS
    assert bound_text(answer) == row["loops"]
    if row["loops"] == "any number":
        assert answer.evidence == OnlySc("rc11", is_safe=True)
    assert robustness(answer.program, "rc11", CheckOptions()).evidence == OnlySc("rc11")


@listed("row", few(WEAKENED), others(WEAKENED), ids=lambda row: row["file"])
def test_with_one_order_less_it_is_not(row: dict[str, str]) -> None:
    program = weakened(row)
    (answer,) = check_models(program, ("rc11",), CheckOptions()).answers
    assert answer.verdict.value == row["shows"]
    monitor = decide(Task(program, Axioms("rc11"), Keeps(Criterion.ROBUST)))
    assert isinstance(monitor.evidence, SeesThePast)


STORE_BUFFERING = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static void *one(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_ORDER);
  return (void *)(long)atomic_load_explicit(&y, memory_order_ORDER);
}
static void *two(void *unused) {
  atomic_store_explicit(&y, 1, memory_order_ORDER);
  return (void *)(long)atomic_load_explicit(&x, memory_order_ORDER);
}
int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, one, 0);
  pthread_create(&second, 0, two, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
}
"""


def test_robustness_is_a_question_of_its_own() -> None:
    def asked(order: str) -> ModelAnswer:
        program = pipeline.load_text(SourceText("sb.c", STORE_BUFFERING.replace("ORDER", order)))
        (answer,) = check_models(program, ("rc11",), CheckOptions(criterion="robust")).answers
        return answer

    strong, weak = asked("seq_cst"), asked("relaxed")
    assert (strong.verdict, strong.evidence) == (Verdict.HOLDS, OnlySc("rc11"))
    assert weak.verdict is Verdict.VIOLATED
    assert isinstance(weak.evidence, Counterexample)
    assert weak.evidence.beyond_sc is not None
    early, late = (weak.evidence.execution.events[n] for n in weak.evidence.beyond_sc)
    assert (early.value, late.value) == (0, 1)
    assert [one.model for one in weak.evidence.forbidden_by] == ["sc"]


def test_fix_finds_what_makes_a_program_robust() -> None:
    program = pipeline.load_text(SourceText("sb.c", STORE_BUFFERING.replace("ORDER", "relaxed")))
    fixed = fix_orders(program, ("rc11",), FixOptions(criterion="robust"))
    assert fixed.verdict is FixVerdict.FIXED
    assert [change.order for change in fixed.changes] == [MemoryOrder.SEQ_CST] * 2
    assert (fixed.patched or "").count("atomic_thread_fence(memory_order_seq_cst)") == 2
    assert [answer.evidence for answer in fixed.answers] == [OnlySc("rc11")]
    assert not fixed.is_minimum


def test_fix_claims_nothing_where_no_order_helps() -> None:
    """The race is between plain accesses: it can be mended, but not by the orders of others."""
    text = STORE_BUFFERING.replace("static atomic_int x, y;", "static atomic_int x; static int y;")
    text = text.replace("atomic_load_explicit(&y, memory_order_ORDER)", "y")
    text = text.replace("atomic_store_explicit(&y, 1, memory_order_ORDER)", "y = 1").replace("ORDER", "relaxed")
    program = pipeline.load_text(SourceText("plain.c", text))
    assert fix_orders(program, ("rc11",), FixOptions(criterion="robust")).verdict is FixVerdict.UNKNOWN


def test_a_proof_is_one_about_arm_where_every_atomic_load_acquires() -> None:
    def asked(name: str) -> object:
        (answer,) = check_models(pipeline.load(FOLDER / name), ("armv8",), CheckOptions(timeout_seconds=20)).answers
        return answer.evidence

    assert asked("test_and_set.c") == OnlySc("armv8", is_safe=True)
    assert not isinstance(asked("test_test_and_set.c"), OnlySc)


REFERENCE_COUNT = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int users = 2;
int *shared;
static void *user(void *unused) {
  int value = *shared, seen = atomic_load_explicit(&users, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&users, &seen, seen - 1, memory_order_ORDER, memory_order_relaxed)) {}
  if (seen == 1) free(shared);
  return 0;
}
int main(void) {
  shared = malloc(sizeof *shared);
  *shared = 3;
  pthread_t a, b;
  pthread_create(&a, 0, user, 0);
  pthread_create(&b, 0, user, 0);
  return 0;
}
"""


@pytest.mark.parametrize(("order", "verdict"), [("acq_rel", Verdict.HOLDS), ("relaxed", Verdict.VIOLATED)])
def test_who_frees_memory_has_to_come_behind_all_uses(order: str, verdict: Verdict) -> None:
    program = pipeline.load_text(SourceText("count.c", REFERENCE_COUNT.replace("ORDER", order)))
    (answer,) = check_models(program, ("rc11",), CheckOptions()).answers
    assert answer.verdict is verdict
    if verdict is Verdict.VIOLATED:
        assert isinstance(answer.evidence, Counterexample)
        assert failed_text(answer.evidence).startswith("data race of freeing `shared#1` with a use of it")
