"""What a question looks at: reductions may change everything else."""

from __future__ import annotations

from collections.abc import Iterable

from memfence.program.expressions import At, Binary, BufferEmpty, Const, Expr, Register, RegisterOf, Shared, walk
from memfence.program.facts.effects import op_expressions
from memfence.program.ir import Program
from memfence.program.traversal import distinct_ops
from memfence.records import Record


class Observed(Record):
    """Everything that must look the same before and after a reduction.

    `locations`, `registers`: pairs (process, number). `variables`: memory. `buffers`: processes whose pending stores
    are looked at. `accesses`: every load, store and fence is an event of its own (persistence and its kin), so none may
    be dropped; without `fences`, a fence may be a part of the step before it. `blocking`: a step that blocks half-way
    must stay visible (deadlock and liveness).
    """

    locations: frozenset[tuple[int, int]] = frozenset()
    registers: frozenset[tuple[int, int]] = frozenset()
    variables: frozenset[int] = frozenset()
    buffers: frozenset[int] = frozenset()
    accesses: bool = False
    blocking: bool = False
    fences: bool = True


def observed_by(
    program: Program, exprs: Iterable[Expr], *, accesses: bool = False, blocking: bool = False, fences: bool = True
) -> Observed:
    """What `exprs` look at, and what the processes of `program` look at in each other."""
    locations: set[tuple[int, int]] = set()
    registers: set[tuple[int, int]] = set()
    variables: set[int] = set()
    buffers: set[int] = set()
    inside = (e for op in distinct_ops(*program.processes) for e in op_expressions(op))
    sent = (e for p in program.processes for t in p.transitions if t.sync for e in t.sync.values)
    for expr in (*exprs, *inside, *sent):
        for node in walk(expr):
            match node:
                case Binary() | Register() | Const():
                    pass
                case At(process, places):
                    locations.update((process, at) for at in places)
                case RegisterOf(process, register):
                    registers.add((process, register))
                case Shared(address):
                    variables.update(address.variables)
                case BufferEmpty(process):
                    buffers.add(process)
                case _:
                    pass
    return Observed(
        frozenset(locations), frozenset(registers), frozenset(variables), frozenset(buffers), accesses, blocking, fences
    )
