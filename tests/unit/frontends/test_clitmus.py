"""Litmus tests in C: what a statement becomes, what it ends with, and where its fences go."""

from __future__ import annotations

import pytest

import memfence
from memfence.frontends.catalogue import choose_language
from memfence.pipeline import load_text
from memfence.program import ir
from memfence.program.expressions import Const, Register
from memfence.program.orders import MemoryOrder
from memfence.source import SourceText

SB = """C SB (* store buffering *)
{ [x] = 0; int y = 0; }
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed); // first
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
}
P1 (atomic_int* x, atomic_int* y) {
  if (1)
    atomic_store_explicit(y, 1, memory_order_release);
  int r1 = *x;
}
exists (0:r0=0 /\\ 1:r1=0)
"""


def loaded(body: str, condition: str = "exists (x=1)", initial: str = "") -> ir.Program:
    text = f"C t\n{{ {initial} }}\nP0 (atomic_int* x, int* y, int* a) {{ {body} }}\n{condition}\n"
    return load_text(SourceText("t.litmus", text))


def ops(body: str) -> list[ir.Op]:
    return [op for transition in reversed(loaded(body).processes[0].transitions) for op in transition.ops]


def finals(body: str, *names: str, initial: str = "") -> set[tuple[int, ...]]:
    """The final values of the thread's local variables."""
    condition = "exists (" + " /\\ ".join(f"0:{name}=0" for name in names) + ")"
    result = memfence.check(loaded(body, condition, initial), model="sc")
    assert result.final_states is not None
    stated = result.program.properties[0]
    assert isinstance(stated, ir.Final)
    places = [[shown for shown, _ in stated.observed].index(f"0:{name}") for name in names]
    return {tuple(values[place] for place in places) for values, _ in result.final_states}


@pytest.mark.parametrize(
    ("body", "order"),
    [
        ("*x = 1;", MemoryOrder.SEQ_CST),
        ("*y = 1;", MemoryOrder.PLAIN),
        ("atomic_store(x, 1);", MemoryOrder.SEQ_CST),
        ("atomic_store_explicit(x, 1, memory_order_release);", MemoryOrder.RELEASE),
    ],
)
def test_a_store_has_the_order_of_the_text_or_of_its_type(body: str, order: MemoryOrder) -> None:
    (op,) = ops(body)
    assert isinstance(op, ir.Store)
    assert (op.order, op.value) == (order, Const(1))


def test_a_load_goes_straight_into_the_variable_it_is_assigned_to() -> None:
    (op,) = ops("int r0 = atomic_load_explicit(x, memory_order_acquire);")
    assert op == ir.Load(0, op.address, None, MemoryOrder.ACQUIRE)  # type: ignore[union-attr]


def test_a_failed_comparison_writes_what_it_found_where_the_expected_value_was() -> None:
    assert finals("int e = 1; int r = atomic_compare_exchange_strong(x, &e, 5);", "e", "r") == {(0, 0)}
    assert finals("int e = 0; int r = atomic_compare_exchange_strong(x, &e, 5);", "e", "r") == {(0, 1)}
    body = "*y = 1; int r = atomic_compare_exchange_strong(x, y, 5); int s = *y; int t = *x;"
    assert finals(body, "r", "s", "t") == {(0, 0, 0)}


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("int r = 0; for (int i = 0; i < 3; i++) { if (i == 1) continue; r += i; }", 2),
        ("int r = 0; while (1) { r++; if (r == 4) break; }", 4),
        ("int r = 5; do { r = r - 1; } while (r > 2);", 2),
        ("int r = 1; if (*x && *y) r = 2; else r = 3;", 3),
        ("int r = 1; *y = 7; r = *x ? 4 : *y;", 7),
        ("int r = 0; if (!*x || *y) r = 1;", 1),
        ("bool r = 8;", 1),
        ("int r = (int) (1 + 2) * 3 - -4 % 3;", 10),
        ("int r = 9; return; r = 1;", 9),
        ("int r = atomic_fetch_add(x, 2) + atomic_exchange(x, 7) * 10 + *x * 100;", 720),
        ("int r = (*x)++; r = r * 10 + *x;", 1),
        ("*y += 3; int r = *y;", 3),
    ],
)
def test_a_statement_means_what_it_means_in_c(body: str, value: int) -> None:
    assert finals(body, "r") == {(value,)}


def test_elements_of_an_array_are_variables_one_behind_the_other() -> None:
    assert finals("int r = a[0]; int s = *(a + r);", "r", "s", initial="int a[3] = {2, 0, 8};") == {(2, 8)}


def test_a_fetch_of_nothing_keeps_its_order() -> None:
    (op,) = ops("atomic_fetch_or_explicit(x, 4, memory_order_acq_rel);")
    assert isinstance(op, ir.Rmw)
    assert (op.kind, op.order) == ("or", MemoryOrder.ACQ_REL)


def test_a_fence_of_c_stays_one() -> None:
    assert ops("atomic_thread_fence(memory_order_acquire);") == [ir.Fence("thread_fence", MemoryOrder.ACQUIRE)]


def test_a_value_is_stored_as_it_was_loaded() -> None:
    load, store = ops("int r = *y; *x = r;")
    assert isinstance(load, ir.Load)
    assert isinstance(store, ir.Store)
    assert store.value == Register(load.register)


def test_fences_are_written_behind_statements_and_prove_the_test() -> None:
    result = memfence.fix(SourceText("SB.litmus", SB), model="tso")
    assert result.patched is not None
    fence = "atomic_thread_fence(memory_order_seq_cst);"
    assert f"memory_order_relaxed); // first\n  {fence}\n" in result.patched
    assert f"{{ atomic_store_explicit(y, 1, memory_order_release); {fence} }}" in result.patched
    assert memfence.check(SourceText("SB.litmus", result.patched), model="tso").verdict.value == "holds"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("X86 a\n", "litmus"),
        ("(* c *) C a\n", "clitmus"),
        ("AArch64 a\n", "aarch64"),
        ("PPC a\n", "litmus"),
        ("", "litmus"),
    ],
)
def test_the_first_word_tells_the_language_of_a_litmus_test(text: str, language: str) -> None:
    chosen = choose_language("a.litmus", text)
    assert chosen is not None
    assert chosen.name == language
