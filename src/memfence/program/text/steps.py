"""What a transition does, in words a person recognises: the user's own text, else its ops."""

from __future__ import annotations

from typing import assert_never

from memfence.program import ir
from memfence.program.expressions import Address, Expr
from memfence.program.orders import MemoryOrder
from memfence.program.text.expressions import print_address, print_expression
from memfence.source import NOWHERE

PLAIN, SEQ_CST = MemoryOrder.PLAIN, MemoryOrder.SEQ_CST
RMW_NAMES: dict[ir.RmwKind, str] = {
    "exchange": "xchg",
    "compare_exchange": "cas",
    "add": "fetch_add",
    "sub": "fetch_sub",
    "and": "fetch_and",
    "or": "fetch_or",
    "xor": "fetch_xor",
    "nand": "fetch_nand",
    "max": "fetch_max",
    "min": "fetch_min",
}


def step_text(program: ir.Program, process: int, transition: ir.Transition) -> str:
    """The source text of the transition on one line; its ops where it has no place in the source."""
    if transition.span.source is NOWHERE.source or not transition.span.text.strip():
        return print_ops(program, process, transition)
    return transition.span.shown or " ".join(transition.span.text.split())


def print_ops(program: ir.Program, process: int, transition: ir.Transition) -> str:
    """Every op of the transition, separated by `; `."""
    ops = [print_op(program, process, op) for op in transition.ops]
    if transition.sync is not None:
        values = ", ".join(print_expression(value, program, process) for value in transition.sync.values)
        names = ", ".join(program.processes[process].registers[r].name for r in transition.sync.registers)
        mark = f"{transition.sync.channel}!{values}" if transition.sync.sends else f"{transition.sync.channel}?{names}"
        ops.insert(transition.sync.guard_ops, mark)
    text = "; ".join(ops) or "skip"
    return f"locked {{ {text} }}" if transition.locked else text


def print_op(program: ir.Program, process: int, op: ir.Op) -> str:
    """One op, as `r := x`, `x := r + 1 [release]`, `r := cas(x, 0, 1)`, `assume r == 0`."""
    registers = program.processes[process].registers

    def address(of: Address) -> str:
        return print_address(of, program, process)

    def text(expr: Expr) -> str:
        return print_expression(expr, program, process)

    match op:
        case ir.Load(register, of, when, order):
            loaded = address(of) if when is None else f"{text(when)} ? {address(of)} : 0"
            return f"{registers[register].name} := {loaded}{_order(order)}"
        case ir.Store(of, value, direct, order, when):
            guard = "" if when is None else f"if {text(when)}: "
            return f"{guard}{address(of)} :={' direct' if direct else ''} {text(value)}{_order(order)}"
        case ir.Rmw(old, of, kind, operand, expected, order):
            result = "" if old is None else f"{registers[old].name} := "
            operands = [text(e) for e in (expected, operand) if e is not None]
            return f"{result}{RMW_NAMES[kind]}({', '.join([address(of), *operands])}){_order(order, SEQ_CST)}"
        case ir.Assign(register, value):
            return f"{registers[register].name} := {text(value)}"
        case ir.Assume(condition):
            return f"assume {text(condition)}"
        case ir.Assert(condition):
            return f"assert {text(condition)}"
        case ir.Fence(kind, order):
            return f"{kind}{_order(order)}"
        case ir.Lock():
            return "lock"
        case ir.Unlock():
            return "unlock"
        case _:
            assert_never(op)


def _order(order: MemoryOrder, usual: MemoryOrder = PLAIN) -> str:
    """` [release]`; nothing for what goes without saying."""
    return "" if order is usual else f" [{order.value}]"
