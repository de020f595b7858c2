"""Memory orders and read-modify-write ops in terms of what hardware has: loads, stores, fences and locked steps.

A memory model says what it makes of an order (`models.readings`). The result has no orders left and, under this model,
the same runs step by step: the numbers of processes, variables, registers, locations and transitions stay. Where the
old value of a read-modify-write has no place in its own register, the process gets one more register, behind the
others, that is 0 between steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import assert_never

from memfence.models.readings import Reading, StoreReading, is_locked
from memfence.models.state import State
from memfence.program import ir
from memfence.program.expressions import Address, Binary, Register
from memfence.program.facts.effects import registers_read, value_written
from memfence.program.orders import MemoryOrder

PLAIN = MemoryOrder.PLAIN


def for_hardware(program: ir.Program, model: Reading) -> ir.Program:
    """`program` as `model` performs it; the same object where nothing has an order."""
    if all(_has_no_order(op) for p in program.processes for t in p.transitions for op in t.ops):
        return program
    processes = tuple(_Lowering(program, process, model).result() for process in program.processes)
    return replace(program, processes=processes)


def as_written(program: ir.Program, state: State) -> State:
    """A state of `for_hardware(program, ...)`, between two steps, as a state of `program`."""
    kept = tuple(
        values[: len(process.registers)] for values, process in zip(state.registers, program.processes, strict=True)
    )
    return replace(state, registers=kept)


def _has_no_order(op: ir.Op) -> bool:
    return not isinstance(op, ir.Rmw) and getattr(op, "order", PLAIN) is PLAIN


class _Lowering:
    """One process; `old` is the register for old values, if one is needed."""

    def __init__(self, program: ir.Program, process: ir.Process, model: Reading) -> None:
        self.program = program
        self.process = process
        self.model = model
        self.old: ir.RegisterVar | None = None

    def result(self) -> ir.Process:
        transitions = tuple(self.transition(t) for t in self.process.transitions)
        registers = self.process.registers if self.old is None else (*self.process.registers, self.old)
        return replace(self.process, transitions=transitions, registers=registers)

    def transition(self, transition: ir.Transition) -> ir.Transition:
        if all(map(_has_no_order, transition.ops)):
            return transition
        locked = is_locked(self.model, transition)
        return replace(transition, ops=tuple(self.ops(transition.ops, locked)), locked=locked)

    def ops(self, ops: Sequence[ir.Op], locked: bool) -> Iterator[ir.Op]:
        waiting = False
        for op, following in pairwise((*ops, None)):
            assert op is not None
            if waiting:  # the comparison of the compare-exchange before, which has waited for it
                waiting = False
                continue
            match op:
                case ir.Load():
                    yield replace(op, order=PLAIN)
                case ir.Store(order=order):
                    if not locked and self.model.reading_of_store(order) is StoreReading.SEPARATED:
                        yield ir.Fence("sfence")
                    yield replace(op, order=PLAIN)
                case ir.Fence("thread_fence", order):
                    kind = self.model.reading_of_fence(order)
                    yield from () if kind is None else (ir.Fence(kind),)
                case ir.Rmw():
                    waiting = self.waits_for(op, following)
                    yield from self.modify(op, waiting)
                case ir.Assign() | ir.Assume() | ir.Assert() | ir.Fence() | ir.Lock() | ir.Unlock():
                    yield op
                case _:
                    assert_never(op)

    def waits_for(self, op: ir.Rmw, following: ir.Op | None) -> bool:
        """Whether the step goes on only where this compare-exchange succeeds: then it need not try to write before."""
        if op.register is None or op.expected is None or not self.can_hold_old(op, op.register):
            return False
        return following == ir.Assume(Binary("==", Register(op.register), op.expected))

    def modify(self, op: ir.Rmw, waits: bool) -> Iterator[ir.Op]:
        """Read, write, and hand over the old value, if it is not where it belongs already."""
        own = op.register if op.register is not None and self.can_hold_old(op, op.register) else None
        old = Register(self.spare(op.address) if own is None else own)
        yield ir.Load(old.index, op.address)
        value = value_written(op, old)
        found = None if op.expected is None else Binary("==", old, op.expected)
        if found is not None and waits:
            yield from (ir.Assume(found), ir.Store(op.address, value))
        else:
            yield ir.Store(op.address, value, when=found)
        if own is None and op.register is not None:
            yield ir.Assign(op.register, old)

    def can_hold_old(self, op: ir.Rmw, register: int) -> bool:
        """Whether the old value can go there before the new one is written: it fits, and the op needs nothing of it."""
        domain = self.process.registers[register].domain
        values = _values_at(self.program, op.address)
        return register not in registers_read(op) and domain.lo <= values.lo and values.hi <= domain.hi

    def spare(self, address: Address) -> int:
        """The additional register, wide enough for what is at the address."""
        values = _values_at(self.program, address)
        known = values if self.old is None else self.old.domain
        domain = ir.Domain(min(0, known.lo, values.lo), max(0, known.hi, values.hi))
        self.old = ir.RegisterVar("%old", domain, transient=True)
        return len(self.process.registers)


def _values_at(program: ir.Program, address: Address) -> ir.Domain:
    """From the least to the greatest value that may be found at the address."""
    domains = [program.variables[number].domain for number in address.variables]
    return ir.Domain(min(d.lo for d in domains), max(d.hi for d in domains))
