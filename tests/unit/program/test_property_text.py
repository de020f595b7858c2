"""Property expressions: what can be written, what it means, and that printing is the inverse of reading."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memfence.codes import Code
from memfence.diagnostics import InputError, render
from memfence.models.steps import evaluate_in, starts
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import (
    Address,
    At,
    Binary,
    BinaryOp,
    BufferEmpty,
    Conditional,
    Const,
    Expr,
    RegisterOf,
    Shared,
    Unary,
    variable_address,
)
from memfence.program.ir import Program, SharedVar
from memfence.program.text.properties import parse_expression, print_expression
from support.models import memory_model
from support.samples import BYTE, Sample


def named_program() -> Program:
    """x, an array of three, a process called `odd one`, instances `P[0]` and `Q_1`."""
    variables = tuple(SharedVar(name, BYTE) for name in ("x", "a[0]", "a[1]", "a[2]"))
    processes = []
    for name, template in (("P[0]", "P"), ("Q_1", "Q"), ("odd one", "odd"), ("R", "T"), ("S", "T")):
        builder = ProcessBuilder(name, template)
        builder.register("r", BYTE, (5,))
        builder.register("$t", BYTE)
        builder.scratch(0)
        builder.location("start", labels=("top",))
        builder.location("l1", labels=("cs", "both"))
        builder.location("l2", labels=("cs",))
        builder.location("7")
        builder.location("l1")  # two locations of one name: only a number tells them apart
        processes.append(builder.build(0))
    return Program("named", variables, tuple(processes))


PROGRAM = named_program()


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("true", Const(1)),
        ("-3", Const(-3)),
        ("-2147483648", Const(-(2**31))),
        ("4294967296", Const(2**32)),
        ("-9223372036854775808", Const(-(2**63))),
        ("0xffffffffffffffff", Const(2**64 - 1)),
        ("0x0000000000000000000000000000ff", Const(255)),
        ("0x1f", Const(31)),
        ("x", Shared(variable_address(0))),
        ("a[1]", Shared(variable_address(2))),
        ("a[1+x]", Shared(Address(1, 3, Binary("+", Const(1), Shared(variable_address(0)))))),
        ("P[0]@cs", At(0, frozenset({1, 2}))),
        ("Q[1]@both", At(1, frozenset({1}))),
        ("T[1]@top", At(4, frozenset({0}))),
        ("Q_1@7", At(1, frozenset({3}))),
        ("Q_1@#4", At(1, frozenset({4}))),
        ("Q_1.cs", At(1, frozenset({1, 2}))),
        ("P[0].r", RegisterOf(0, 0)),
        ("R.$t", RegisterOf(3, 1)),
        ('"odd one"."r"', RegisterOf(2, 0)),
        ("empty(P[0])", BufferEmpty(0)),
    ],
)
def test_operands_mean_what_they_say(text: str, meaning: Expr) -> None:
    assert parse_expression(text, PROGRAM) == meaning


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 3 - 2", 5),
        ("1 << 2 + 1", 8),
        ("6 & 3 == 3", 0),  # as in C: `==` first
        ("1 | 2 ^ 3 & 2", 1),
        ("1 < 2 == 1", 1),
        ("0 && 1 || 1", 1),
        ("1 || 0 && 0", 1),
        ("!0 + 1", 2),
        ("-7 / 2", -3),
        ("~0 & 255", 255),
        ("0 ? 1 : 0 ? 2 : 3", 3),
        ("1 ? 0 ? 1 : 4 : 3", 4),
        ("P[0].r == 5 && R@top && x == 0", 1),
    ],
)
def test_operators_bind_as_in_c(text: str, value: int) -> None:
    state = starts(PROGRAM, memory_model("tso"))[0]
    assert evaluate_in(PROGRAM, state, 0, parse_expression(text, PROGRAM)) == value


@pytest.mark.parametrize(
    ("text", "code", "needle"),
    [
        ("y == 1", Code.UNKNOWN_VARIABLE, "shared variables: `x`"),
        ("r == 1", Code.UNKNOWN_VARIABLE, "write `P[0].r`"),
        ("P[0].q", Code.UNKNOWN_REGISTER, "registers: `r`"),
        ("P[0].%0", Code.BAD_PROPERTY, "expected a register"),
        ("P[0]@css", Code.UNKNOWN_LABEL, "did you mean `cs`?"),
        ("P[0]@#9", Code.UNKNOWN_LABEL, "has no label"),
        ("P[1]@cs", Code.UNKNOWN_PROCESS, "did you mean `P[0]`?"),
        ("P@cs", Code.UNKNOWN_PROCESS, "did you mean `P[0]`?"),
        ("R", Code.TYPE_MISMATCH, "write `R@label`"),
        ("a", Code.TYPE_MISMATCH, "write `a[0]`"),
        ("a[3]", Code.BAD_ADDRESS, "outside 0..2"),
        ("x = 1", Code.BAD_PROPERTY, "did you mean `==`?"),
        ("x and x", Code.BAD_PROPERTY, "did you mean `&&`?"),
        ("", Code.BAD_PROPERTY, "ends too early"),
        ("x &&", Code.BAD_PROPERTY, "ends too early"),
        ("(x", Code.BAD_PROPERTY, "expected `)`"),
        ("x ? 1", Code.BAD_PROPERTY, "expected `:`"),
        ("x 1", Code.BAD_PROPERTY, "unexpected `1`"),
        ("P[0]@", Code.BAD_PROPERTY, "ends too early"),
        ("12ab", Code.BAD_PROPERTY, "double quotes"),
        ("18446744073709551616", Code.TOO_LARGE, "64 bits"),
        ("-9223372036854775809", Code.TOO_LARGE, "64 bits"),
        ("9" * 5000, Code.TOO_LARGE, "64 bits"),
        ("(" * 5000 + "x" + ")" * 5000, Code.TOO_DEEP, "too deeply"),
        ("!" * 5000 + "x", Code.TOO_DEEP, "too deeply"),
        ("x" + " + x" * 5000, Code.TOO_DEEP, "too deeply"),
        ("x\0", Code.BAD_PROPERTY, "unexpected character"),
    ],
)
def test_mistakes_are_coded_placed_and_helped(text: str, code: Code, needle: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_expression(text, PROGRAM, "--invariant")
    assert caught.value.diagnostics[0].code is code
    shown = render(caught.value.diagnostics)
    assert "--> --invariant:1:" in shown
    assert needle in shown


def test_every_unknown_name_is_reported_at_once() -> None:
    with pytest.raises(InputError) as caught:
        parse_expression("y == 1 && P[0].q == z", PROGRAM)
    assert [d.code for d in caught.value.diagnostics] == [
        Code.UNKNOWN_VARIABLE, Code.UNKNOWN_REGISTER, Code.UNKNOWN_VARIABLE,
    ]  # fmt: skip


locations = st.frozensets(st.integers(0, 4), min_size=1)
leaves: st.SearchStrategy[Expr] = st.one_of(
    st.integers(-(2**31), 2**31 - 1).map(Const),
    st.integers(0, 3).map(lambda number: Shared(variable_address(number))),
    st.builds(RegisterOf, st.integers(0, 4), st.integers(0, 1)),
    st.sampled_from([{0}, {1}, {1, 2}, {3}]).flatmap(
        lambda where: st.integers(0, 4).map(lambda process: At(process, frozenset(where)))
    ),
    st.integers(0, 4).map(BufferEmpty),
)
operators: tuple[BinaryOp, ...] = get_args(BinaryOp)


def larger(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    not_constant = inner.filter(lambda expr: not isinstance(expr, Const))
    return st.one_of(
        st.builds(Unary, st.sampled_from(["-", "!", "~"]), inner),
        st.builds(Binary, st.sampled_from(operators), inner, inner),
        st.builds(Conditional, inner, inner, inner),
        not_constant.map(lambda index: Shared(Address(1, 3, index))),
    )


@given(st.recursive(leaves, larger, max_leaves=12))
@settings(max_examples=300, deadline=None)
def test_printing_is_the_inverse_of_reading(expr: Expr) -> None:
    assert parse_expression(print_expression(expr, PROGRAM), PROGRAM) == expr


@given(st.integers(0, 4), locations)
def test_any_set_of_locations_survives_printing(process: int, where: frozenset[int]) -> None:
    text = print_expression(At(process, where), PROGRAM)
    read = parse_expression(text, PROGRAM)
    for location in range(5):
        at = tuple(location if p == process else 0 for p in range(5))
        state = replace(starts(PROGRAM, memory_model("sc"))[0], locations=at)
        assert evaluate_in(PROGRAM, state, 0, read) == (location in where)


@pytest.mark.parametrize("text", ["(x + 1) * 2 == 4 && !(x == 1)", "x - (1 - x)", "a[x + 1] ? x : x || 1"])
def test_no_more_parentheses_than_needed(text: str) -> None:
    assert print_expression(parse_expression(text, PROGRAM), PROGRAM) == text


def test_own_registers_are_printed_by_their_name() -> None:
    program = Sample("s", "x").process("P", "r := x", "x := r").build()
    (store,) = program.processes[0].transitions[1].ops
    assert print_expression(store.value, program, 0) == "r"  # type: ignore[union-attr]
