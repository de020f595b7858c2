"""What ops and steps read, write and evaluate, by looking at them alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from memfence.program import ir
from memfence.program.expressions import Address, Binary, Conditional, Expr, Unary, registers_of

# Tuples, since a union would be put together at every question.
_SETTING = (ir.Load, ir.Rmw, ir.Assign)
_LOCAL = (ir.Assign, ir.Assume, ir.Assert)
_READING = (ir.Load, ir.Rmw)
_WRITING = (ir.Store, ir.Rmw)
_ACCESSING = (ir.Load, ir.Store, ir.Rmw)


def op_expressions(op: ir.Op) -> tuple[Expr, ...]:
    """Every expression that `op` evaluates, indices included."""
    return _EXPRESSIONS[op.__class__](op)


def _of_load(op: ir.Load) -> tuple[Expr, ...]:
    return (op.address.index,) if op.when is None else (op.when, op.address.index)


def _of_store(op: ir.Store) -> tuple[Expr, ...]:
    return (op.address.index, op.value) if op.when is None else (op.when, op.address.index, op.value)


def _of_rmw(op: ir.Rmw) -> tuple[Expr, ...]:
    return (op.address.index, op.operand) if op.expected is None else (op.address.index, op.expected, op.operand)


# Asked of every op, again and again: a table is several times as fast as a `match`.
_EXPRESSIONS: dict[type, Callable[[Any], tuple[Expr, ...]]] = {
    ir.Load: _of_load,
    ir.Store: _of_store,
    ir.Rmw: _of_rmw,
    ir.Assign: lambda op: (op.value,),
    ir.Assume: lambda op: (op.condition,),
    ir.Assert: lambda op: (op.condition,),
    **dict.fromkeys((ir.Fence, ir.Lock, ir.Unlock), lambda op: ()),
}


def registers_read(op: ir.Op) -> frozenset[int]:
    """The process's own registers that `op` needs."""
    return frozenset().union(*[registers_of(e) for e in op_expressions(op)])


def register_written(op: ir.Op) -> int | None:
    """The register that `op` sets, if any."""
    if isinstance(op, _SETTING):
        return op.register
    return op.status if isinstance(op, ir.Store) else None


def is_local(op: ir.Op) -> bool:
    """Whether `op` touches nothing but the process's own registers."""
    return isinstance(op, _LOCAL)


def address_read(op: ir.Op) -> Address | None:
    """What `op` may read in memory."""
    return op.address if isinstance(op, _READING) else None


def address_written(op: ir.Op) -> Address | None:
    """What `op` may write to memory, now or later."""
    return op.address if isinstance(op, _WRITING) else None


def accesses_memory(op: ir.Op) -> bool:
    return isinstance(op, _ACCESSING)


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
