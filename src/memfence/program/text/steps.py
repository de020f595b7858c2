"""What a transition does, in words a person recognises: the user's own text, else its ops."""

from __future__ import annotations

from typing import assert_never

from memfence.program.expressions import TRUE, Address
from memfence.program.ir import Assert, Assign, Assume, Fence, Load, Lock, Op, Program, Store, Transition, Unlock
from memfence.program.text.expressions import print_address, print_expression
from memfence.source import NOWHERE


def step_text(program: Program, process: int, transition: Transition) -> str:
    """The source text of the transition on one line; its ops where it has no place in the source."""
    if transition.span.source is NOWHERE.source or not transition.span.text.strip():
        return print_ops(program, process, transition)
    return " ".join(transition.span.text.split())


def print_ops(program: Program, process: int, transition: Transition) -> str:
    """Every op of the transition, separated by `; `."""
    ops = [print_op(program, process, op) for op in transition.ops]
    if transition.sync is not None:
        values = ", ".join(print_expression(value, program, process) for value in transition.sync.values)
        names = ", ".join(program.processes[process].registers[r].name for r in transition.sync.registers)
        mark = f"{transition.sync.channel}!{values}" if transition.sync.sends else f"{transition.sync.channel}?{names}"
        ops.insert(transition.sync.guard_ops, mark)
    text = "; ".join(ops) or "skip"
    return f"locked {{ {text} }}" if transition.locked else text


def print_op(program: Program, process: int, op: Op) -> str:
    """One op, as `r := x`, `x := r + 1`, `assume r == 0`."""
    registers = program.processes[process].registers

    def address(of: Address) -> str:
        return print_address(of, program, process)

    match op:
        case Load(register, of, None):
            return f"{registers[register].name} := {address(of)}"
        case Load(register, of, when):
            guard = print_expression(when or TRUE, program, process)
            return f"{registers[register].name} := {guard} ? {address(of)} : 0"
        case Store(of, value, direct):
            return f"{address(of)} :={' direct' if direct else ''} {print_expression(value, program, process)}"
        case Assign(register, value):
            return f"{registers[register].name} := {print_expression(value, program, process)}"
        case Assume(condition):
            return f"assume {print_expression(condition, program, process)}"
        case Assert(condition):
            return f"assert {print_expression(condition, program, process)}"
        case Fence(kind):
            return kind
        case Lock():
            return "lock"
        case Unlock():
            return "unlock"
        case _:
            assert_never(op)
