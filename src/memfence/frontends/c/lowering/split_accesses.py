"""Atomic accesses to memory of which somebody stores parts: to the explored program they are several accesses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memfence.frontends.c.lowering.sources import Sources
from memfence.frontends.c.machine.process import Process
from memfence.frontends.c.machine.residual import Cell, Read, Step, Write
from memfence.frontends.c.machine.world import World
from memfence.program import ir
from memfence.program.orders import MemoryOrder

Used = Sequence[set[int]]
"""By thread: the addresses of the cells that it accesses."""


def split_accesses(
    world: World, processes: Sequence[Process], steps: Sequence[Sequence[Step]], used: Used, sources: Sources
) -> tuple[ir.SplitAccess, ...]:
    """Each place once. Plain accesses are none of them: C does not promise that they are whole."""
    found: dict[ir.SplitAccess, ir.SplitAccess] = {}
    for number, process in enumerate(processes):
        others = [one for n, one in enumerate(used) if n != number or process.thread.is_parameterised]
        for step in steps[number]:
            cells = [op.target for op in _parts(step) if isinstance(op.target, Cell)]
            if cells:
                name = world.space.name_of(cells[0].address, sum(cell.size for cell in cells))
                access = ir.SplitAccess(name, sources.span(step.place), _is_torn(step, others))
                found.setdefault(access, access)
    return tuple(found.values())


def _parts(step: Step) -> Iterator[Read | Write]:
    return (op for op in step.ops if isinstance(op, Read | Write) and op.split and op.order is not MemoryOrder.PLAIN)


def _is_torn(step: Step, others: Used) -> bool:
    """Whether a store of the step may wait in a buffer, and other threads access more than one of its parts."""
    stores = [op for op in _parts(step) if isinstance(op, Write) and op.order is not MemoryOrder.SEQ_CST]
    if step.locked or not stores:
        return False
    cells = {op.target.address for op in stores if isinstance(op.target, Cell)}
    return sum(any(cell in one for one in others) for cell in cells) > 1
