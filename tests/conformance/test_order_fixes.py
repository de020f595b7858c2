"""`fix` and `why` for x86, C11 and ARMv8 together: the minimum, the patched text, the needed orders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memfence.api.fix import fix
from memfence.api.order_fix import fix_models, why_models
from memfence.diagnostics import InputError
from memfence.report.describe.order_fix import needed_text, order_fix_object, order_fix_text
from memfence.synthesis.result import FixVerdict
from memfence.tasks.answer import Verdict
from memfence.tasks.usage import WrongUsage
from support.c_compiler import needs_clang
from support.command_line import memfence

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "c"
ALL = "x86,rc11,armv8"

pytestmark = needs_clang

TICKET = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int next_ticket, serving;
static int counter;
static void *worker(void *unused) {
  int mine = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
  while (atomic_load_explicit(&serving, memory_order_relaxed) != mine)
    ;
  counter = counter + 1;
  atomic_store_explicit(&serving, mine + 1, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(counter == 2);
}
"""

FIXES = {
    "onetbb_mutex_unlock.c": [("load", "seq_cst"), ("load", "seq_cst")],
    "brpc_fetch_add.c": [("new fence", "seq_cst"), ("new fence", "seq_cst")],
    "xen_locked_bit.c": [("new fence", "seq_cst")],
    "latch_exchange.c": [("load", "seq_cst"), ("load", "seq_cst")],
    "postgresql_latch.c": [("new fence", "seq_cst"), ("new fence", "seq_cst")],
    "ck_hclh_early_return.c": [("load", "acquire")],
    "libuv_async_send.c": [("new fence", "seq_cst"), ("load", "seq_cst")],
}


@pytest.mark.parametrize("name", FIXES)
def test_the_minimum_fix_of_public_reports(name: str) -> None:
    result = fix_models(EXAMPLES / name, ALL)
    assert (result.verdict, result.is_minimum, result.bound) == (FixVerdict.FIXED, True, None)
    assert [(change.place.kind, change.order.value) for change in result.changes] == FIXES[name]
    assert [answer.verdict for answer in result.answers] == [Verdict.HOLDS] * 3


@pytest.fixture
def ticket(tmp_path: Path) -> Path:
    path = tmp_path / "ticket.c"
    path.write_text(TICKET)
    return path


def test_a_ticket_lock_acquires_and_releases(ticket: Path) -> None:
    result = fix_models(ticket, ALL, all=True)
    assert [(c.place.kind, c.order.value) for c in result.changes] == [("load", "acquire"), ("store", "release")]
    assert result.patched == TICKET.replace(
        "(&serving, memory_order_relaxed)", "(&serving, memory_order_acquire)"
    ).replace("mine + 1, memory_order_relaxed", "mine + 1, memory_order_release")
    assert result.sets is not None and result.are_all
    assert "2 stronger orders" in order_fix_text(result, width=100)
    json.dumps(order_fix_object(result))
    assert fix_models(result.patched, ALL, language="c").verdict is FixVerdict.ALREADY_HOLDS


def test_every_order_of_the_fixed_lock_is_needed_on_arm(ticket: Path) -> None:
    ticket.write_text(fix_models(ticket, ALL).patched or "")
    result = why_models(ticket, None, ALL)
    assert [(one.place.kind, one.is_needed) for one in result.orders] == [("load", True), ("store", True)]
    by_model = {answer.name: answer.verdict for answer in result.orders[0].answers}
    assert by_model == {"x86": Verdict.HOLDS, "rc11": Verdict.VIOLATED, "armv8": Verdict.VIOLATED}
    assert "acquire load needed" in needed_text(result, width=1000)


def test_an_order_of_a_program_that_fails_anyway_is_not_called_needed(ticket: Path) -> None:
    ticket.write_text(TICKET.replace("mine + 1, memory_order_relaxed", "mine + 1, memory_order_release"))
    result = why_models(ticket, None, "x86,rc11")
    assert [answer.verdict for answer in result.before] == [Verdict.HOLDS, Verdict.VIOLATED]
    assert [one.is_needed for one in result.orders] == [None]
    text = needed_text(result, width=1000)
    assert "release store not known to be needed" in text and "VIOLATED, as it is, too" in text


HAZARD = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static _Atomic(int *) shared, hazard;
static void *reader(void *unused) {
  int *p = atomic_load_explicit(&shared, memory_order_acquire);
  atomic_store_explicit(&hazard, p, memory_order_release);
  if (p && p == atomic_load_explicit(&shared, memory_order_acquire)) (void)*(volatile int *)p;
  return 0;
}
static void *reclaimer(void *unused) {
  int *old = atomic_exchange_explicit(&shared, 0, memory_order_acq_rel);
  if (atomic_load_explicit(&hazard, memory_order_acquire) != old) free(old);
  return 0;
}
int main(void) {
  pthread_t a, b;
  int *object = malloc(sizeof *object);
  *object = 7;
  atomic_init(&shared, object);
  pthread_create(&a, 0, reader, 0);
  pthread_create(&b, 0, reclaimer, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"""


def test_programs_that_free_memory_are_fixed_for_x86_and_others_together() -> None:
    result = fix_models(HAZARD, "x86,rc11", language="c")
    assert (result.verdict, result.is_minimum) == (FixVerdict.FIXED, True)
    assert [(change.place.kind, change.order.value) for change in result.changes] == [("new fence", "seq_cst")] * 2
    assert [answer.verdict for answer in result.answers] == [Verdict.HOLDS] * 2


def test_where_orders_cannot_be_chosen_the_report_says_why() -> None:
    result = fix_models(HAZARD, "x86", language="c")
    assert result.verdict is FixVerdict.UNKNOWN
    assert "limit    orders cannot be chosen here" in order_fix_text(result, width=1000)
    assert "cannot be chosen" in order_fix_object(result)["limit"]


def test_an_order_that_no_model_needs(ticket: Path) -> None:
    text = TICKET.replace("(&next_ticket, 1, memory_order_relaxed)", "(&next_ticket, 1, memory_order_acquire)")
    line = 1 + text[: text.index("&next_ticket, 1")].count("\n")
    ticket.write_text(fix_models(text, ALL, language="c").patched or "")
    assert [one.is_needed for one in why_models(ticket, line, ALL).orders] == [False]
    with pytest.raises(WrongUsage, match="no order that could be weaker in line 1;"):
        why_models(ticket, 1, ALL)


def test_a_volatile_variable_that_needs_an_order_is_to_become_atomic() -> None:
    result = fix_models(EXAMPLES / "double_checked.c", ALL)
    assert result.verdict is FixVerdict.UNKNOWN and result.diff == ""
    text = order_fix_text(result, width=1000)
    assert "NOT FIXED under x86, rc11, armv8: no place that may be edited is enough" in text
    assert "double_checked.c:13: acquire for this load: `ready` must become atomic" in text
    assert "double_checked.c:17: release for this store: `ready` must become atomic" in text


POLLING = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int ready, polls;
static int data;
static void *writer(void *unused) {
  data = 1;
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return 0;
}
static void *reader(void *unused) {
  while (!atomic_load_explicit(&ready, memory_order_relaxed))
    atomic_store_explicit(&polls, 1, memory_order_relaxed);
  assert(data == 1);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, writer, 0);
  pthread_create(&b, 0, reader, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"""


def test_a_loop_that_may_go_on_is_fixed_up_to_its_bound(ticket: Path) -> None:
    ticket.write_text(POLLING)
    result = fix_models(ticket, "rc11", unroll=2)
    assert (result.verdict, result.bound) == (FixVerdict.FIXED, 2)
    assert [(c.place.kind, c.order.value) for c in result.changes] == [("store", "release"), ("load", "acquire")]
    done = memfence("fix", str(ticket), "--model", "rc11", "--unroll", "2", "-q")
    assert (done.returncode, "loops followed up to 2 times" in done.stdout) == (4, True)


def test_only_texts_with_orders_can_be_fixed_so(tmp_path: Path) -> None:
    model = tmp_path / "m.pml"
    model.write_text("active proctype P() { skip }")
    with pytest.raises(InputError, match="stronger orders"):
        fix_models(model, "rc11")


def test_a_model_that_is_not_monotone_is_refused(ticket: Path, tmp_path: Path) -> None:
    cat = tmp_path / "odd.cat"
    cat.write_text(
        '"odd"\nacyclic (po \\ ([ACQ]; po)) | rf | co | fr as order\nlet fr = 0\n'.replace("let fr = 0\n", "")
    )
    with pytest.raises(InputError, match="may allow more"):
        fix_models(ticket, str(cat))


def test_the_command_line(ticket: Path) -> None:
    done = memfence("fix", str(ticket), "--model", "rc11,armv8", "--in-place", "-q")
    assert (done.returncode, done.stdout.startswith("FIXED under rc11, armv8: 2 stronger orders")) == (0, True)
    assert memfence("check", str(ticket), "--model", "rc11,armv8", "-q").returncode == 0
    assert memfence("why", str(ticket), "--model", "rc11").returncode == 0
    assert memfence("fix", str(ticket), "--model", "rc11", "--html", str(ticket.with_suffix(".html"))).returncode == 0
    assert memfence("fix", str(ticket), "--model", "sc").returncode == 2
    assert memfence("fix", str(ticket), "--unroll", "2").returncode == 2


SEEN_BY_POINTER = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static _Atomic(int *) head, hazard;
static int seen;
static void *reader(void *unused) {
  int *p = atomic_load(&head);
  atomic_store_explicit(&hazard, p, memory_order_release);
  if (p && atomic_load_explicit(&head, memory_order_acquire) == p) seen = *p;
  return 0;
}
static void *writer(void *unused) {
  int *old = atomic_exchange(&head, NULL);
  if (atomic_load(&hazard) != old) free(old);
  return 0;
}
int main(void) {
  pthread_t a, b;
  int *first = malloc(sizeof *first);
  *first = 1;
  atomic_store(&head, first);
  pthread_create(&a, 0, reader, 0);
  pthread_create(&b, 0, writer, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"""


def test_where_no_order_can_be_chosen_for_x86_fences_are(tmp_path: Path) -> None:
    """What was freed is marked by a store past the buffer: such executions have states only."""
    path = tmp_path / "hazard.c"
    path.write_text(SEEN_BY_POINTER)
    done = memfence("fix", path, "--model", "x86")
    assert done.returncode == 0 and "FIXED under x86, which is tso" in done.stdout
    assert done.stdout.count("+  atomic_thread_fence(memory_order_seq_cst);") == 1
    result = fix(path, model="x86")
    assert (result.verdict, result.asked_model, len(result.chosen.fences)) == (FixVerdict.FIXED, "x86", 1)
