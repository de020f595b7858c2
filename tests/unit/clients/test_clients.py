"""Which clients are made, and in which orders their calls are made one after the other."""

from __future__ import annotations

import ast
from itertools import product
from math import comb
from pathlib import Path

import pytest

from memfence.clients.comparing import Asked, _client
from memfence.clients.generate import clients_of
from memfence.clients.notation import specifications_in
from memfence.clients.order import Order, Turn, count_orders, may_be_stuck, orders_of
from memfence.clients.program import client_program
from memfence.clients.result import Consistency
from memfence.clients.serial import SerialRunner
from memfence.clients.specification import Call, Client, Specification, client_text
from memfence.diagnostics import InputError
from memfence.program.load_options import COptions
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions


def described(*lines: str) -> Specification:
    (found,) = specifications_in(SourceText("x.c", "/* memfence-test x\n" + "\n".join(lines) + "\n*/\n"))
    return found


def texts(*lines: str) -> list[str]:
    found = described(*lines)
    return [client_text(found, client) for client in clients_of(found)]


def test_each_client_is_made_once_smallest_first() -> None:
    assert texts("any a() : a()", "any b() : b()", "clients 2 x 1") == ["a() || a()", "a() || b()", "b() || b()"]


def test_the_number_of_clients_is_that_of_multisets_of_sequences() -> None:
    for threads, calls, operations in product((2, 3), (1, 2), (1, 2)):
        lines = [f"any {name}() : {name}()" for name in "ab"[:operations]]
        sequences = sum(operations**length for length in range(1, calls + 1))
        expected = sum(comb(sequences + n - 1, n) for n in range(2, threads + 1))
        assert len(texts(*lines, f"clients {threads} x {calls}")) == expected


def test_roles_are_kept_apart_and_limited() -> None:
    lines = ("in put(v: unique) : put(v)", "out get() = get()", "at-most 1 in, 1 out", "clients 3 x 2")
    assert texts(*lines) == [
        "put(1) || get()",
        "put(1) || get(); get()",
        "put(1); put(2) || get()",
        "put(1); put(2) || get(); get()",
    ]


def test_values_are_tried_in_all_combinations() -> None:
    assert len(texts("any a(v: 1..2, w: 0|3|5) : a(v, w)", "clients 2 x 1")) == comb(6 + 1, 2)


def test_a_shape_with_more_clients_than_anybody_could_ask_about_is_refused() -> None:
    with pytest.raises(InputError, match="clients of this shape"):
        clients_of(described("any a(v: 0..9, w: 0..9) : a(v, w)", "clients 3 x 3"))


def test_orders_respect_each_thread() -> None:
    found = described("any a() : a()")
    call = Call(0, ())
    orders = list(orders_of(found, Client(((call, call), (call, call)))))
    assert len(set(orders)) == len(orders) == comb(4, 2)
    assert all(sum(turn.thread == 1 for turn in order) == 2 for order in orders)


def test_an_operation_that_may_fail_does_both() -> None:
    found = described("any a() = a()", "may-fail a = 0")
    orders = list(orders_of(found, Client(((Call(0, ()),), (Call(0, ()),)))))
    assert len(orders) == 2 * 4


@pytest.mark.parametrize("may_fail", ["", "may-fail a = 0"])
def test_orders_are_counted_without_making_them(may_fail: str) -> None:
    found = described("any a() = a()", "any b() : b()", "clients 3 x 2", *filter(None, [may_fail]))
    for client in clients_of(found)[:60]:
        assert count_orders(found, client) == len(list(orders_of(found, client)))


def test_hundreds_of_outcomes_are_no_deep_expression() -> None:
    found = described("any a() = a()", "clients 2 x 1")
    client = clients_of(found)[0]
    text = client_program(found, client, [Order((), (n, 0)) for n in range(720)])
    whole = text.partition("is_outcome_of_some_order =")[2].partition(";")[0].replace("\n", " ")
    for number in (0, 359, 719):
        assert eval(whole.strip(), {"r1_1_was": number, "r2_1_was": 0})
    assert not eval(whole.strip(), {"r1_1_was": 720, "r2_1_was": 0})
    depth = max(_depth(node) for node in ast.walk(ast.parse(whole.strip(), mode="eval")))
    assert depth < 40


def _depth(node: ast.AST) -> int:
    return 1 + max(map(_depth, ast.iter_child_nodes(node)), default=0)


def test_a_client_with_more_orders_than_are_compared_is_left_open() -> None:
    found = described("any a() = a()", "clients 4 x 3")
    client = max(clients_of(found), key=lambda one: one.calls)
    asked = Asked(
        models=("sc",), consistency=Consistency.SERIALISABLE, options=CheckOptions(), compiling=COptions(), most=1
    )
    result = _client(SerialRunner(found, COptions(), Path("nowhere")), client, asked)
    assert result is not None
    assert (result.is_too_large, result.verdict, result.answers) == (True, Verdict.UNKNOWN, None)


def order(text: str, made: int | None = None) -> Order:
    turns = tuple(Turn(int(digit)) for digit in text)
    return Order(turns, () if made is None else None, made or 0, is_stuck=made is not None)


def test_calls_get_stuck_only_where_nobody_can_go_on() -> None:
    """`wait() || notify()`: the wait is not made first, and nothing is stuck. `take() || take()` of a lock is."""
    client = Client(((Call(0, ()),), (Call(0, ()),)))
    assert not may_be_stuck(client, [order("12", 0), order("21")])
    assert may_be_stuck(client, [order("12", 1), order("21", 1)])
    assert may_be_stuck(client, [order("12", 0), order("21", 0)])


def test_how_many_calls_of_another_thread_come_before() -> None:
    found = order("1221")
    assert [found.calls_before(1, call, 2) for call in (1, 2)] == [0, 2]
    assert [found.calls_before(2, call, 1) for call in (1, 2)] == [1, 1]
