"""What ops and steps read, write and evaluate, by looking at them alone."""

from __future__ import annotations

from memfence.program.expressions import Expr, registers_of
from memfence.program.ir import Assert, Assign, Assume, Load, Op, Process, Program, Store, Transition


def op_expressions(op: Op) -> tuple[Expr, ...]:
    """Every expression that `op` evaluates, indices included."""
    match op:
        case Load(_, address, None):
            return (address.index,)
        case Load(_, address, when) if when is not None:
            return (when, address.index)
        case Store(address, value, _):
            return (address.index, value)
        case Assign(_, value):
            return (value,)
        case Assume(condition) | Assert(condition):
            return (condition,)
        case _:
            return ()


def registers_read(op: Op) -> frozenset[int]:
    """The process's own registers that `op` needs."""
    return frozenset().union(*(registers_of(e) for e in op_expressions(op)))


def register_written(op: Op) -> int | None:
    """The register that `op` sets, if any."""
    return op.register if isinstance(op, Load | Assign) else None


def is_local(op: Op) -> bool:
    """Whether `op` touches nothing but the process's own registers."""
    return isinstance(op, Assign | Assume | Assert)


def stored_variables(process: Process) -> tuple[int, ...]:
    """The variables that the process may store to, in order: those for which it has a PSO buffer."""
    found: set[int] = set()
    for transition in process.transitions:
        for op in transition.ops:
            if isinstance(op, Store):
                known = op.address.variable
                every = range(op.address.base, op.address.base + op.address.size)
                found.update(every if known is None else (known,))
    return tuple(sorted(found))


def has_torn_steps(program: Program) -> bool:
    """Whether some plain step has several stores: store order sees what comes in between, races do not."""
    steps = (t for p in program.processes for t in p.transitions if not t.locked)
    return any(sum(isinstance(op, Store) for op in t.ops) > 1 for t in steps)


def has_guarded_writes(program: Program) -> bool:
    """Whether some step reads one variable and writes another: what others have pending decides when it is possible."""

    def variables(transition: Transition, kind: type[Load] | type[Store]) -> set[int]:
        places = [op.address for op in transition.ops if isinstance(op, kind)]
        return {n for a in places for n in (range(a.base, a.base + a.size) if a.variable is None else (a.variable,))}

    return any(
        read != written
        for process in program.processes
        for transition in process.transitions
        for written in variables(transition, Store)
        for read in variables(transition, Load)
    )
