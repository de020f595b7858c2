"""Stronger orders and C11 fences in the text of C and C++."""

from __future__ import annotations

import pytest

pytest.importorskip("tree_sitter", reason="needs memfence[c]")

from memfence.frontends.c.edits import point_key
from memfence.frontends.c.orders import NewFence, StrongerOrder, names_its_order, with_orders
from memfence.program.ir import FencePoint
from memfence.program.orders import MemoryOrder
from memfence.source import SourceText, Span

CASES = {
    "atomic_store_explicit(&x, 1, memory_order_relaxed);": "atomic_store_explicit(&x, 1, memory_order_seq_cst);",
    "int r = atomic_load_explicit(&x, memory_order_relaxed);": (
        "int r = atomic_load_explicit(&x, memory_order_seq_cst);"
    ),
    "__atomic_store_n(&x, 1, __ATOMIC_RELAXED);": "__atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);",
    "atomic_compare_exchange_strong_explicit(&x, &e, 1, memory_order_relaxed, memory_order_relaxed);": (
        "atomic_compare_exchange_strong_explicit(&x, &e, 1, memory_order_seq_cst, memory_order_seq_cst);"
    ),
    "atomic_thread_fence(memory_order_relaxed);": "atomic_thread_fence(memory_order_seq_cst);",
}
CPP_CASES = {
    "x.store(1, std::memory_order_relaxed);": "x.store(1, std::memory_order_seq_cst);",
    "int r = q->head.load(std::memory_order::relaxed);": "int r = q->head.load(std::memory_order::seq_cst);",
}


def body(path: str, statement: str) -> tuple[SourceText, Span]:
    before = "void f(void) {\n  "
    source = SourceText(path, f"{before}{statement}\n}}\n")
    return source, source.span(len(before), len(before) + len(statement))


@pytest.mark.parametrize(
    ("path", "statement", "expected"),
    [("a.c", *case) for case in CASES.items()] + [("a.cpp", *case) for case in CPP_CASES.items()],
)
def test_the_order_is_replaced_where_it_stands(path: str, statement: str, expected: str) -> None:
    source, span = body(path, statement)
    assert names_its_order(source, span, MemoryOrder.RELAXED)
    patched = with_orders(source, [(MemoryOrder.RELAXED, StrongerOrder(span, MemoryOrder.SEQ_CST))])
    assert patched == source.text.replace(statement, expected)


@pytest.mark.parametrize(
    "statement",
    [
        "atomic_store(&x, 1);",
        "STORE(&x, 1, RLX);",
        "atomic_load_explicit(&x, memory_order_acquire);",
        "f(atomic_load_explicit(&x, memory_order_relaxed), atomic_load_explicit(&y, memory_order_relaxed));",
    ],
)
def test_an_order_that_is_not_there_or_not_the_only_one_is_left_alone(statement: str) -> None:
    source, span = body("a.c", statement)
    assert not names_its_order(source, span, MemoryOrder.RELAXED)


def test_a_new_fence_follows_its_statement() -> None:
    source, span = body("a.c", "x = 1;")
    point = FencePoint("f", point_key(span.start, span.end, is_lone=False), span)
    patched = with_orders(source, [NewFence(point, MemoryOrder.ACQUIRE)])
    assert patched == (
        "#include <stdatomic.h>\nvoid f(void) {\n  x = 1;\n  atomic_thread_fence(memory_order_acquire);\n}\n"
    )
