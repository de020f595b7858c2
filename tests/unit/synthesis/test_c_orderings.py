"""`memfence why` for C: which fence, seq_cst access or locked operation is needed on x86, and which are not."""

from __future__ import annotations

from pathlib import Path

import pytest

import memfence
from memfence import pipeline
from memfence.models.spec import TSO
from memfence.program.ir import Program
from memfence.program.isomorphism import are_isomorphic
from memfence.questions import check
from memfence.report.describe.why_text import necessity_object, necessity_text
from memfence.source import SourceText
from memfence.synthesis.necessity import Need, WhyResult
from memfence.synthesis.orderings import existing_fences, without_fences
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from memfence.tasks.usage import WrongUsage
from support.c_compiler import needs_clang

pytestmark = needs_clang
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "c"


def store_buffering(one: str, two: str) -> SourceText:
    """Line 6 is `one`, line 10 is `two`."""
    text = f"""#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y, r1, r2;
static void *first(void *u) {{
{one}
atomic_store_explicit(&r1, atomic_load_explicit(&y, memory_order_relaxed), memory_order_relaxed);
return 0; }}
static void *second(void *u) {{
{two}
atomic_store_explicit(&r2, atomic_load_explicit(&x, memory_order_relaxed), memory_order_relaxed);
return 0; }}
int main(void) {{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0); pthread_create(&b, 0, second, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(r1 || r2);
    return 0;
}}
"""
    return SourceText("sb.c", text)


def loaded(one: str, two: str) -> Program:
    return pipeline.load_text(store_buffering(one, two))


def needs(result: WhyResult) -> dict[tuple[int, str], Need]:
    own = [reason for reason in result.reasons if reason.fence.at.line < 13]
    return {(reason.fence.at.line, reason.fence.kind): reason.need for reason in own}


RELAXED = "atomic_store_explicit(&{0}, 1, memory_order_relaxed);"
FENCE = "atomic_thread_fence(memory_order_seq_cst);"


def test_a_seq_cst_store_that_stands_for_a_fence_is_needed() -> None:
    (result,) = memfence.why(store_buffering("x = 1;", "y = 1;"))
    assert needs(result) == {(6, "store"): Need.NEEDED, (10, "store"): Need.NEEDED}
    assert result.reasons[0].result.trace is not None


def test_of_a_store_and_a_fence_behind_it_one_is_enough() -> None:
    (result,) = memfence.why(store_buffering(f"x = 1; {FENCE}", f"y = 1; {FENCE}"))
    assert set(needs(result).values()) == {Need.REDUNDANT}
    kinds = [(fence.at.line, fence.kind) for fence in result.droppable if fence.at.line < 13]
    assert len(kinds) == 2
    assert {line for line, _ in kinds} == {6, 10}
    assert result.is_largest


def test_a_read_modify_write_is_needed_for_its_lock() -> None:
    (result,) = memfence.why(store_buffering("atomic_exchange(&x, 1);", "atomic_fetch_add(&y, 1);"))
    assert needs(result) == {(6, "rmw"): Need.NEEDED, (10, "rmw"): Need.NEEDED}


def test_a_seq_cst_load_is_a_load() -> None:
    text = store_buffering("x = 1;", "y = 1;").text.replace("&y, memory_order_relaxed)", "&y, memory_order_seq_cst)")
    (result,) = memfence.why(SourceText("sb.c", text), 7)
    assert [(reason.fence.kind, reason.need) for reason in result.reasons] == [("load", Need.REDUNDANT)]
    assert "a load is a mov" in necessity_text([result])


def test_without_its_order_a_store_is_what_a_release_store_means() -> None:
    two = RELAXED.format("y") + FENCE
    strong = loaded(RELAXED.format("x").replace("relaxed", "seq_cst"), two)
    weak = loaded(RELAXED.format("x").replace("relaxed", "release"), two)
    (store,) = (fence for fence in existing_fences(strong) if fence.at.line == 6)
    dropped = without_fences(strong, [store], TSO)
    assert are_isomorphic(dropped, weak)
    assert check(dropped, CheckOptions(model="tso")).verdict is Verdict.VIOLATED


def test_without_the_fence_the_program_fails_as_its_text_without_it() -> None:
    two = RELAXED.format("y") + FENCE
    strong = loaded(RELAXED.format("x") + FENCE, two)
    (fence,) = (fence for fence in existing_fences(strong) if fence.at.line == 6)
    for program in (without_fences(strong, [fence], TSO), loaded(RELAXED.format("x"), two)):
        assert check(program, CheckOptions(model="tso")).verdict is Verdict.VIOLATED


def test_a_lock_without_its_locked_operation_is_none() -> None:
    program = pipeline.load(EXAMPLES / "ticket_lock.c")
    (operation,) = existing_fences(program)
    unlocked = without_fences(program, [operation], TSO)
    assert check(unlocked, CheckOptions(model="tso")).verdict is Verdict.VIOLATED
    text = (EXAMPLES / "ticket_lock.c").read_text()
    call = "atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed)"
    assert call in text
    apart = (
        "atomic_load_explicit(&next_ticket, memory_order_relaxed);\n"
        "        atomic_store_explicit(&next_ticket, ticket + 1, memory_order_relaxed)"
    )
    by_hand = pipeline.load_text(SourceText("by_hand.c", text.replace(call, apart)))
    assert check(by_hand, CheckOptions(model="tso")).verdict is Verdict.VIOLATED


def test_a_line_without_anything_of_the_kind_is_refused_with_the_lines_that_have() -> None:
    with pytest.raises(WrongUsage, match="seq_cst access or read-modify-write in line 1; they are in line 12"):
        memfence.why(EXAMPLES / "ticket_lock.c", 1)


def test_locks_of_the_library_are_not_asked_about() -> None:
    (result,) = memfence.why(EXAMPLES / "musl_unlock_fixed.c")
    assert [reason.fence.kind for reason in result.reasons] == ["rmw", "rmw"]


def test_json_has_the_text_and_what_it_is() -> None:
    value = necessity_object(memfence.why(EXAMPLES / "ticket_lock.c"))
    (fence,) = value["criteria"][0]["fences"]
    assert (fence["kind"], fence["need"], fence["line"]) == ("rmw", "needed", 12)
    assert fence["text"].startswith("atomic_fetch_add_explicit(&next_ticket")
    assert fence["without"]["verdict"] == "violated"


@pytest.mark.parametrize("order", ["relaxed", "acquire", "release", "acq_rel", "seq_cst"])
def test_a_counter_that_may_wrap_is_a_locked_operation_of_any_order(order: str) -> None:
    """Such an update is written out in the program as a load and a store, locked."""
    add = f"atomic_fetch_add_explicit(&x, 2000000000, memory_order_{order});"
    program = loaded(f"{add} {add}", "y = 1;")
    kinds = [fence.kind for fence in existing_fences(program) if fence.at.line == 6]
    assert kinds == ["rmw", "rmw"]
    assert check(program, CheckOptions(model="pso")).verdict is Verdict.HOLDS
