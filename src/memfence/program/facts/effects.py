"""What ops and steps read, write and evaluate, by looking at them alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from memfence.program import ir
from memfence.program.expressions import Address, Binary, Conditional, Expr, Unary, registers_of


def op_expressions(op: ir.Op) -> tuple[Expr, ...]:
    """Every expression that `op` evaluates, indices included."""
    match op:
        case ir.Load(_, address, when):
            return (address.index,) if when is None else (when, address.index)
        case ir.Store(address, value, when=when):
            return (address.index, value) if when is None else (when, address.index, value)
        case ir.Rmw(_, address, _, operand, expected):
            return (address.index, operand) if expected is None else (address.index, expected, operand)
        case ir.Assign(_, value):
            return (value,)
        case ir.Assume(condition) | ir.Assert(condition):
            return (condition,)
        case ir.Fence() | ir.Lock() | ir.Unlock():
            return ()
        case _:
            assert_never(op)


def registers_read(op: ir.Op) -> frozenset[int]:
    """The process's own registers that `op` needs."""
    return frozenset().union(*(registers_of(e) for e in op_expressions(op)))


def register_written(op: ir.Op) -> int | None:
    """The register that `op` sets, if any."""
    if isinstance(op, ir.Store):
        return op.status
    return op.register if isinstance(op, ir.Load | ir.Rmw | ir.Assign) else None


def is_local(op: ir.Op) -> bool:
    """Whether `op` touches nothing but the process's own registers."""
    return isinstance(op, ir.Assign | ir.Assume | ir.Assert)


def address_read(op: ir.Op) -> Address | None:
    """What `op` may read in memory."""
    return op.address if isinstance(op, ir.Load | ir.Rmw) else None


def address_written(op: ir.Op) -> Address | None:
    """What `op` may write to memory, now or later."""
    return op.address if isinstance(op, ir.Store | ir.Rmw) else None


def accesses_memory(op: ir.Op) -> bool:
    return isinstance(op, ir.Load | ir.Store | ir.Rmw)


def value_written(op: ir.Rmw, old: Expr) -> Expr:
    """What `op` writes where it writes something, before it is made to fit; `old` is what it has read."""
    match op.kind:
        case "exchange" | "compare_exchange":
            return op.operand
        case "add":
            return Binary("+", old, op.operand)
        case "sub":
            return Binary("-", old, op.operand)
        case "and":
            return Binary("&", old, op.operand)
        case "or":
            return Binary("|", old, op.operand)
        case "xor":
            return Binary("^", old, op.operand)
        case "nand":
            return Unary("~", Binary("&", old, op.operand))
        case "max":
            return Conditional(Binary(">=", old, op.operand), old, op.operand)
        case "min":
            return Conditional(Binary("<=", old, op.operand), old, op.operand)
        case _:
            assert_never(op.kind)


def stored_variables(process: ir.Process) -> tuple[int, ...]:
    """The variables that the process may store to, in order: those for which it has a PSO buffer."""
    found: set[int] = set()
    for transition in process.transitions:
        for op in transition.ops:
            if (address := address_written(op)) is not None:
                found.update(address.variables)
    return tuple(sorted(found))


def has_torn_steps(program: ir.Program) -> bool:
    """Whether some plain step has several stores: store order sees what comes in between, races do not."""
    steps = (t for p in program.processes for t in p.transitions if not t.locked)
    return any(sum(isinstance(op, ir.Store) for op in t.ops) > 1 for t in steps)


def has_guarded_writes(program: ir.Program) -> bool:
    """Whether some step reads one variable and writes another: what others have pending decides when it is possible."""

    def variables(transition: ir.Transition, place: Callable[[ir.Op], Address | None]) -> set[int]:
        addresses = [address for op in transition.ops if (address := place(op)) is not None]
        return {variable for address in addresses for variable in address.variables}

    return any(
        read != written
        for process in program.processes
        for transition in process.transitions
        for written in variables(transition, address_written)
        for read in variables(transition, address_read)
    )
