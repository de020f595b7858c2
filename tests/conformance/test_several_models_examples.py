"""The examples in C under x86, C11 and ARMv8: one verdict each, and executions that the models' texts allow."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from memfence import pipeline
from memfence.axiomatic.candidates import candidate
from memfence.models.cat.interpreter import judge
from memfence.questions.models import check_models
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import ByDependencies, Counterexample
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "c"
ROWS = list(csv.DictReader((FOLDER / "several_models.csv").open()))
MODELS = ("x86", "rc11", "armv8")

pytestmark = needs_clang


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["file"])
def test_verdicts_are_as_expected(row: dict[str, str]) -> None:
    result = check_models(pipeline.load(FOLDER / row["file"]), MODELS, CheckOptions())
    assert {answer.name: answer.verdict.value for answer in result.answers} == {name: row[name] for name in MODELS}


def test_what_x86_forbids_is_said_with_its_axiom() -> None:
    result = check_models(pipeline.load(FOLDER / "latch_exchange.c"), ("armv8",), CheckOptions())
    found = result.answers[0].evidence
    assert isinstance(found, Counterexample)
    assert [one.model for one in found.forbidden_by] == ["x86", "sc"]
    assert judge(found.model.cat, candidate(found.execution, found.model)).is_allowed
    assert found.failed in found.execution.failed


def test_racing_plain_accesses_are_undefined_under_c11_only() -> None:
    text = (FOLDER / "message_passing.c").read_text().replace("assert(message == 42)", "(void)message")
    text = text.replace("memory_order_acquire", "memory_order_relaxed")
    result = check_models(pipeline.load_text(pipeline.SourceText("race.c", text)), MODELS, CheckOptions())
    rc11 = result.answers[1].evidence
    assert isinstance(rc11, Counterexample)
    assert rc11.race is not None
    assert [answer.verdict.value for answer in result.answers] == ["holds", "violated", "holds"]


POINTER = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static int message, seen = 7;
static int *_Atomic mailbox;
static void *sender(void *unused) {
  message = 1;
  atomic_store_explicit(&mailbox, &message, memory_order_release);
  return 0;
}
static void *receiver(void *unused) {
  int *found = atomic_load_explicit(&mailbox, memory_order_relaxed);
  if (found)
    seen = *found;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, sender, 0);
  pthread_create(&b, 0, receiver, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(seen != 0);
}
"""


def test_what_a_pointer_leads_to_depends_on_the_pointer() -> None:
    """On ARM the address keeps both loads in order, unless the compiler gets rid of it: no violation for certain."""
    program = pipeline.load_text(SourceText("mailbox.c", POINTER))
    by_model = {answer.name: answer for answer in check_models(program, MODELS, CheckOptions()).answers}
    verdicts = {name: answer.verdict for name, answer in by_model.items()}
    assert verdicts == {"x86": Verdict.HOLDS, "rc11": Verdict.VIOLATED, "armv8": Verdict.UNKNOWN}
    assert isinstance(by_model["armv8"].evidence, ByDependencies)


MEMBERS = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct range { int low, high; };
static _Atomic(struct range *) box;
static void *sender(void *unused) {
  struct range *made = malloc(sizeof *made);
  made->low = 1;
  made->high = 2;
  atomic_store_explicit(&box, made, memory_order_release);
  return unused;
}
static void *receiver(void *unused) {
  struct range *found = atomic_load_explicit(&box, memory_order_relaxed);
  if (found) assert(found->low < found->high);
  return unused;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, sender, 0);
  pthread_create(&b, 0, receiver, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"""


def test_every_member_that_a_pointer_leads_to_depends_on_the_pointer() -> None:
    program = pipeline.load_text(SourceText("range.c", MEMBERS))
    (answer,) = check_models(program, ("armv8",), CheckOptions()).answers
    assert answer.verdict is Verdict.UNKNOWN
    assert isinstance(answer.evidence, ByDependencies)
