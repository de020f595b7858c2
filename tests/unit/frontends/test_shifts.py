"""Languages whose integers have 32 bits: a shift by a negative number or by more than 31 is a run-time error."""

from __future__ import annotations

import pytest

from memfence.frontends.parsing.limits import operation
from memfence.models.spec import SC
from memfence.pipeline import load_text
from memfence.program.expressions import Binary, Const, EvaluationError, Expr, Register, evaluate, walk
from memfence.program.ir import Program
from memfence.source import SourceText
from twins.reference_search import explore

COUNTS = (-1, 0, 1, 30, 31, 32, 33, 63, 64, 127, 128)
TEXTS = {
    "test.pml": "int x = 1, y; int n = {n}; active proctype P() {{ y = (x {op} n) & 1 }}",
    "constant.pml": "int x = 1, y; active proctype P() {{ y = (x {op} {n}) & 1 }}",
    "test.dve": (
        "int x = 1, y, n = {n}; process P {{ state a, b; init a; "
        "trans a -> b {{ effect y = (x {op} n) & 1; }}; }} system async;"
    ),
    "test.persist": (
        "program t vars y : [0:1] procs process p regs r : [-200:200], s : [0:1] init a "
        "begin a: r = {n}; goto b b: s = (1 {op} r) & 1; goto c end"
    ),
}


def read(name: str, op: str, n: int) -> Program:
    return load_text(SourceText(name, TEXTS[name].format(op=op, n=n)))


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("op", ["<<", ">>"])
@pytest.mark.parametrize("n", COUNTS)
def test_a_shift_beyond_31_bits_is_an_error_of_the_program(name: str, op: str, n: int) -> None:
    found = explore(read(name, op, n), SC.definition)
    assert bool(found.failures) == (not 0 <= n <= 31)


def evaluated(expr: Expr, value: int) -> int | None:
    try:
        return evaluate(expr, lambda _node, _index: value)
    except EvaluationError:
        return None


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("terms", [1, 10, 200])
def test_a_number_of_bits_is_checked_however_it_is_computed(count: int, terms: int) -> None:
    by: Expr = Register(0)
    for _ in range(terms - 1):
        by = Binary("-", Binary("+", by, Const(1)), Const(1))
    for written in (by, Const(count)):
        expected = 3 << count if 0 <= count <= 31 else None
        assert evaluated(operation("<<", Const(3), written), count) == expected


def test_shifts_by_shifts_do_not_grow_without_end() -> None:
    expr: Expr = Register(0)
    for _ in range(100):
        expr = operation("<<", Const(1), expr)
    assert sum(1 for _ in walk(expr)) < 2_000
