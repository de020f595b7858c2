"""Programs with other values: what was a small number becomes one at the edge of 64 bits, and nothing else changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from memfence.program.expressions import Const, Expr, rewrite
from memfence.program.ir import (
    WIDEST,
    Assert,
    Assign,
    Assume,
    Domain,
    Fence,
    Load,
    Lock,
    Op,
    Process,
    Program,
    RegisterVar,
    Rmw,
    SharedVar,
    Store,
    Unlock,
)

EDGES = {0: WIDEST.lo, 1: WIDEST.lo + 1, 2: 0, 3: 2**32, 4: WIDEST.hi}
"""In the same order, so that comparisons say the same."""


def with_values(program: Program, values: Mapping[int, int] = EDGES, domain: Domain = WIDEST) -> Program:
    """A program without arithmetic, with every value replaced: the same runs under other names."""

    def renamed(value: int) -> int:
        return values.get(value, value)

    def changed(expr: Expr) -> Expr:
        return rewrite(
            expr, lambda leaf: Const(values.get(leaf.value, leaf.value)) if isinstance(leaf, Const) else leaf
        )

    def of_op(op: Op) -> Op:
        match op:
            case Store() | Assign():
                return replace(op, value=changed(op.value))
            case Assume() | Assert():
                return replace(op, condition=changed(op.condition))
            case Rmw():
                expected = None if op.expected is None else changed(op.expected)
                return replace(op, operand=changed(op.operand), expected=expected)
            case Load() | Fence() | Lock() | Unlock():
                return op
            case _:
                assert_never(op)

    def of_variable(variable: SharedVar) -> SharedVar:
        return replace(variable, domain=domain, init=tuple(map(renamed, variable.init)))

    def of_register(register: RegisterVar) -> RegisterVar:
        return (
            register
            if register.transient
            else replace(register, domain=domain, init=tuple(map(renamed, register.init)))
        )

    def of_process(process: Process) -> Process:
        steps = tuple(replace(t, ops=tuple(map(of_op, t.ops))) for t in process.transitions)
        return replace(process, registers=tuple(map(of_register, process.registers)), transitions=steps)

    return replace(
        program,
        name=f"{program.name}, wide",
        variables=tuple(map(of_variable, program.variables)),
        processes=tuple(map(of_process, program.processes)),
    )
