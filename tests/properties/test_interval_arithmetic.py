"""Interval arithmetic contains the exact arithmetic of `expressions`, for every operator."""

from __future__ import annotations

from typing import get_args

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memfence.program.expressions import (
    Binary,
    BinaryOp,
    Conditional,
    Const,
    EvaluationError,
    Expr,
    Register,
    Unary,
    UnaryOp,
    evaluate,
)
from memfence.program.facts.interval_arithmetic import EVERYTHING, Interval, interval, refine, value_of

NUMBERS = st.integers(-9, 9) | st.sampled_from([2**31 - 1, -(2**31), 2**64, -(2**64), 2**70])
LEAVES = st.builds(Const, NUMBERS) | st.builds(Register, st.integers(0, 1))


def _larger(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return (
        st.builds(Binary, st.sampled_from(get_args(BinaryOp)), inner, inner)
        | st.builds(Unary, st.sampled_from(get_args(UnaryOp)), inner)
        | st.builds(Conditional, inner, inner, inner)
    )


EXPRESSIONS = st.recursive(LEAVES, _larger, max_leaves=6)


@st.composite
def ranges_with_a_value(draw: st.DrawFn) -> tuple[Interval, int]:
    a, b, c = sorted(draw(st.tuples(NUMBERS, NUMBERS, NUMBERS)))
    unbounded = draw(st.integers(0, 9)) == 9
    return (EVERYTHING if unbounded else interval(a, c)), b


def no_other_process(_: object) -> Interval:
    raise AssertionError("these expressions look at no other process")


@given(EXPRESSIONS, st.tuples(ranges_with_a_value(), ranges_with_a_value()))
@example(Binary(">>", Register(0), Const(31)), ((EVERYTHING, 2**70), (interval(0, 0), 0)))  # infinite stays infinite
@example(Binary("/", Register(0), Register(1)), ((interval(-9, 9), 9), (interval(-2, 2), 1)))
@settings(max_examples=1500, deadline=None)
def test_the_interval_of_an_expression_contains_its_value(
    expr: Expr, registers: tuple[tuple[Interval, int], tuple[Interval, int]]
) -> None:
    env = tuple(inside for inside, _ in registers)
    values = [value for _, value in registers]
    try:
        exact = evaluate(expr, lambda node, _: values[node.index] if isinstance(node, Register) else 0)
    except EvaluationError:
        return
    found = value_of(expr, env, no_other_process)
    assert found is not None
    assert found.lo <= max(exact, EVERYTHING.lo) and min(exact, EVERYTHING.hi) <= found.hi
    refined = refine(expr, exact != 0, env, no_other_process)
    assert refined is not None
    assert all(i.lo <= value <= i.hi for i, value in zip(refined, values, strict=True))
