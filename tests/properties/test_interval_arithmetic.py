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
from memfence.program.facts.interval_arithmetic import (
    EVERYTHING,
    Environment,
    Interval,
    Remembering,
    interval,
    join,
    refine,
    value_of,
)

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


def chosen_one_by_one(expr: Expr, env: Environment) -> Interval | None:
    """The definition of a choice: both parts, each with what its condition leaves."""
    if not isinstance(expr, Conditional):
        return value_of(expr, env, no_other_process)
    yes, no = (refine(expr.condition, truth, env, no_other_process) for truth in (True, False))
    return join(
        None if yes is None else chosen_one_by_one(expr.then, yes),
        None if no is None else chosen_one_by_one(expr.otherwise, no),
    )


COMPARED = st.builds(Binary, st.just("=="), LEAVES | st.builds(Binary, st.just("+"), LEAVES, LEAVES), LEAVES)
CHAINS = st.recursive(EXPRESSIONS, lambda rest: st.builds(Conditional, COMPARED, LEAVES, rest), max_leaves=6)


@given(CHAINS, st.tuples(ranges_with_a_value(), ranges_with_a_value()))
@example(
    Conditional(Binary("==", Register(0), Const(3)), Const(1), Register(0)), ((interval(0, 9), 3), (EVERYTHING, 0))
)
@example(
    Conditional(Binary("==", Register(0), Const(9)), Const(1), Register(0)), ((interval(0, 9), 3), (EVERYTHING, 0))
)
@example(
    Conditional(Binary("==", Register(0), Const(3)), Register(0), Const(7)), ((interval(0, 9), 3), (EVERYTHING, 0))
)
@settings(max_examples=1500, deadline=None)
def test_choices_are_as_their_definition_and_the_same_when_they_are_remembered(
    expr: Expr, registers: tuple[tuple[Interval, int], tuple[Interval, int]]
) -> None:
    env = tuple(inside for inside, _ in registers)
    plain = value_of(expr, env, no_other_process)
    assert plain == chosen_one_by_one(expr, env)
    look = Remembering(no_other_process)
    twice = Binary("==", expr, expr)
    assert value_of(expr, env, look) == plain == value_of(expr, env, look)
    assert value_of(twice, env, look) == value_of(twice, env, no_other_process)


def test_what_is_remembered_in_one_environment_is_not_taken_for_another() -> None:
    look, expr = Remembering(no_other_process), Binary("+", Register(0), Const(1))
    assert value_of(expr, (interval(0, 1),), look) == interval(1, 2)
    assert value_of(expr, (interval(5, 5),), look) == interval(6, 6)


def test_a_part_that_is_shared_again_and_again_is_looked_at_once() -> None:
    expr: Expr = Register(0)
    for _ in range(200):
        expr = Binary("&", expr, expr)
    assert value_of(expr, (interval(0, 3),), Remembering(no_other_process)) == interval(0, 3)


def test_deep_expressions_take_one_frame_for_each_level() -> None:
    expr: Expr = Register(0)
    for _ in range(700):
        expr = Binary("+", expr, Const(1))
    assert value_of(expr, (interval(0, 3),), Remembering(no_other_process)) == interval(700, 703)
