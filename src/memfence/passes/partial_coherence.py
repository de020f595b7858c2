"""The partial-coherence abstraction: buffers forget order and number of older stores, so SC runs include those of PSO.

For each process and variable the newest pending value is kept, and which values are pending behind it: a set, where the
buffer has a list. An older value commits once or several times, in any order; the newest one commits last. What is left
out makes more runs possible, never fewer, and the program has finitely many states (partial coherence: Kuperstein,
Vechev and Yahav, PLDI 2011). A store fence does nothing here, which is again more runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from memfence.program import ir
from memfence.program.expressions import Address, Binary, Conditional, Const, Expr, Register, Unary, variable_address
from memfence.program.facts.effects import stored_variables

BIT = ir.Domain(0, 1)


def values_of(program: ir.Program) -> range:
    """All values that some variable can have."""
    return range(min(v.domain.lo for v in program.variables), max(v.domain.hi for v in program.variables) + 1)


def has_more_values(program: ir.Program, most: int) -> bool:
    """Whether there are more of them; a range of all 64-bit integers has no `len`."""
    values = values_of(program)
    return values.stop - values.start > most


def with_partial_coherence(program: ir.Program) -> ir.Program:
    """The program, for hardware, with buffers in memory, and one more process that commits what is in them.

    Numbers of variables, processes, registers and locations stay; new ones follow. The program must have no direct
    stores, no lock regions and no rendezvous.
    """
    buffers = [Buffers(program, number) for number in range(len(program.processes))]
    variables = (*program.variables, *(one for made in buffers for one in made.variables()))
    processes = tuple(made.process() for made in buffers)
    return replace(program, variables=variables, processes=(*processes, _memory(program, buffers)), properties=())


class Buffers:
    """Where the pending stores of one process are: arrays beside the variables, one of each kind."""

    def __init__(self, program: ir.Program, number: int) -> None:
        self.program, self.owner = program, program.processes[number]
        self.values = values_of(program)
        self.width = len(program.variables)
        self.first = self.width * (1 + number * (2 + len(self.values)))
        self.scratch = len(self.owner.registers)

    def variables(self) -> Iterator[ir.SharedVar]:
        name = self.owner.name
        yield from (ir.SharedVar(f"({name} full {v.name})", BIT) for v in self.program.variables)
        for v in self.program.variables:
            yield ir.SharedVar(f"({name} newest {v.name})", v.domain, (v.domain.lo,))
        for value in self.values:
            yield from (ir.SharedVar(f"({name} older {v.name} {value})", BIT) for v in self.program.variables)

    def full(self, address: Address) -> Address:
        return replace(address, base=self.first + address.base)

    def newest(self, address: Address) -> Address:
        return replace(address, base=self.first + self.width + address.base)

    def older(self, address: Address, value: int) -> Address:
        return replace(address, base=self.first + self.width * (2 + value - self.values[0]) + address.base)

    # The process: three more registers, 0 between steps

    def process(self) -> ir.Process:
        wide = ir.Domain(min(0, self.values[0]), max(1, self.values[-1]))
        added = tuple(ir.RegisterVar(f"(buffer {n})", wide, transient=True) for n in range(3))
        steps = tuple(replace(t, ops=tuple(self.step(t)), locked=False) for t in self.owner.transitions)
        return replace(self.owner, registers=(*self.owner.registers, *added), transitions=steps)

    def step(self, transition: ir.Transition) -> Iterator[ir.Op]:
        if transition.locked:
            yield from self.drained()
            yield from (op for op in transition.ops if not isinstance(op, ir.Fence))
            return
        for op in transition.ops:
            yield from self.op(op)

    def op(self, op: ir.Op) -> Iterator[ir.Op]:
        match op:
            case ir.Load(register, address, when):
                yield from self.load(register, address, when)
            case ir.Store(address, value):
                yield from self.store(address, value)
            case ir.Fence("mfence"):
                yield from self.drained()
            case ir.Fence("sfence"):
                pass
            case ir.Assign() | ir.Assume() | ir.Assert():
                yield op
            case ir.Fence() | ir.Rmw() | ir.Lock() | ir.Unlock():
                raise AssertionError(op)
            case _:
                assert_never(op)

    def load(self, register: int, address: Address, when: Expr | None) -> Iterator[ir.Op]:
        full, newest, held = (Register(self.scratch + n) for n in range(3))
        yield ir.Load(full.index, self.full(address), when)
        yield ir.Load(newest.index, self.newest(address), full)
        absent: Expr = Unary("!", full)
        yield ir.Load(held.index, address, absent if when is None else Binary("&&", absent, when))
        yield ir.Assign(register, Conditional(full, newest, held))

    def store(self, address: Address, value: Expr) -> Iterator[ir.Op]:
        full, newest, was = (Register(self.scratch + n) for n in range(3))
        yield ir.Load(full.index, self.full(address))
        yield ir.Load(newest.index, self.newest(address))
        for one in self.values:
            yield ir.Load(was.index, self.older(address, one))
            is_behind = Binary("&&", full, Binary("==", newest, Const(one)))
            yield ir.Store(self.older(address, one), Binary("||", was, is_behind))
        yield ir.Store(self.newest(address), value)
        yield ir.Store(self.full(address), Const(1))

    def drained(self) -> Iterator[ir.Op]:
        full = Register(self.scratch)
        for variable in stored_variables(self.owner):
            yield ir.Load(full.index, self.full(variable_address(variable)))
            yield ir.Assume(Unary("!", full))

    # What commits

    def commits(self) -> Iterator[tuple[ir.Op, ...]]:
        for variable in stored_variables(self.owner):
            domain = self.program.variables[variable].domain
            for value in range(domain.lo, domain.hi + 1):
                yield from self.commits_of_older(variable_address(variable), value)
            yield tuple(self.commit_of_newest(variable_address(variable), domain))

    def commits_of_older(self, address: Address, value: int) -> Iterator[tuple[ir.Op, ...]]:
        commit = (ir.Load(0, self.older(address, value)), ir.Assume(Register(0)), ir.Store(address, Const(value)))
        yield commit
        yield (*commit, ir.Store(self.older(address, value), Const(0)))

    def commit_of_newest(self, address: Address, domain: ir.Domain) -> Iterator[ir.Op]:
        yield from (ir.Load(0, self.full(address)), ir.Assume(Register(0)))
        for value in range(domain.lo, domain.hi + 1):
            yield from (ir.Load(0, self.older(address, value)), ir.Assume(Unary("!", Register(0))))
        yield from (ir.Load(0, self.newest(address)), ir.Store(address, Register(0)))
        yield from (ir.Store(self.full(address), Const(0)), ir.Store(self.newest(address), Const(domain.lo)))


def _memory(program: ir.Program, buffers: list[Buffers]) -> ir.Process:
    values = values_of(program)
    register = ir.RegisterVar("(value)", ir.Domain(min(0, values[0]), max(1, values[-1])), transient=True)
    steps = tuple(ir.Transition(0, 0, ops) for made in buffers for ops in made.commits())
    return ir.Process("(memory)", "(memory)", (register,), (ir.Location("committing"),), 0, steps)
