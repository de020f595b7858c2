"""Promela's integers have 32 bits: a program that needs more is refused by name, never cut to fit."""

from __future__ import annotations

import pytest

from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Expr, Register, Shared, variable_address
from memfence.program.ir import WIDEST, Assign, Domain, Forbidden, Program, SharedVar
from memfence.translation.promela import INT, render_promela

X = Shared(variable_address(0))


R = Register(0)


def program(variable: Domain = INT, register: Domain = INT, value: Expr = R, bad: Expr = X) -> Program:
    builder = ProcessBuilder("P", "P")
    builder.register("r", register, (register.lo,))
    first, last = builder.location(), builder.location()
    builder.emit(first, last, Assign(0, value))
    process = builder.build(first)
    return Program("wide", (SharedVar("x", variable, (variable.lo,)),), (process,), (Forbidden(bad, "bad"),))


def test_values_of_32_bits_are_written() -> None:
    assert "int x = -2147483648;" in render_promela(program())


@pytest.mark.parametrize(
    ("wide", "named"),
    [
        (program(variable=Domain(-(2**31) - 1, 0)), "`x`"),
        (program(variable=Domain(0, 2**31)), "`x`"),
        (program(variable=WIDEST), "`x`"),
        (program(register=WIDEST), "`r`"),
        (program(value=Binary("&", R, Const(2**32))), "`4294967296`"),
        (program(bad=Binary("==", X, Const(-(2**63)))), "`-9223372036854775808`"),
    ],
)
def test_what_needs_more_than_32_bits_is_refused_by_name(wide: Program, named: str) -> None:
    with pytest.raises(InputError) as caught:
        render_promela(wide)
    (found,) = caught.value.diagnostics
    assert found.code is Code.UNSUPPORTED
    assert found.message == f"{named} needs more than the 32 bits of Promela's `int`"
