"""Reduction 4: what no guard, address, assertion or question depends on is dropped (Weiser's slicing).

Kept in any case: ops that can be a run-time error, since those are reported, stores before a fence in the same step,
which then waits for itself, and every access where accesses are what the question is about. Numbers stay; a register
or variable that nothing sets any more needs no bits.
Dropping stores frees room in bounded buffers: the sliced program may do within a bound what the whole one needs a
larger bound for, never more than the whole one does without bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from memfence.program import ir
from memfence.program.expressions import Const, Expr, Register, RegisterOf, walk
from memfence.program.facts.effects import address_written, op_expressions, register_written
from memfence.program.facts.may_fail import may_fail
from memfence.program.facts.observation import Observed
from memfence.program.traversal import distinct_ops

T = TypeVar("T", ir.SharedVar, ir.RegisterVar)


_DROPPABLE = (ir.Assign, ir.Load, ir.Store, ir.Rmw)


def slice_program(program: ir.Program, observed: Observed) -> ir.Program:
    """Drop assignments, loads and stores whose effect nothing observed depends on."""
    return _Slice(program, observed).result()


@dataclass(slots=True)
class _Needed:
    registers: set[tuple[int, int]] = field(default_factory=set)
    variables: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.registers) + len(self.variables)


class _Slice:
    def __init__(self, program: ir.Program, observed: Observed) -> None:
        self.program = program
        self.observed = observed
        # Another process's bus lock makes an access wait: without the access there would be no wait.
        takes_bus = any(isinstance(op, ir.Lock) for op in distinct_ops(*program.processes))
        self.accesses_stay = observed.accesses or takes_bus
        self.awaited = {(p, id(op)) for p, process in enumerate(program.processes) for op in _awaited(process)}
        self.dropped: set[tuple[int, int]] = set()
        self.harmless: set[tuple[int, int]] = set()  # ops that cannot fail, asked once
        self.needed = _Needed(set(observed.registers), set(observed.variables))

    def result(self) -> ir.Program:
        waiting = [(p, process, op) for p, process in enumerate(self.program.processes) for op in distinct_ops(process)]
        self._need_what_is_sent()
        before = -1
        while len(self.needed) != before:
            before = len(self.needed)
            waiting = [(p, process, op) for p, process, op in waiting if not self._collect(p, process, op)]
        self.dropped = {(p, id(op)) for p, _, op in waiting}
        processes = tuple(self._sliced(p, process) for p, process in enumerate(self.program.processes))
        stored = {n for op in distinct_ops(*processes) for n in _stored(op)}
        variables = tuple(
            v if n in self.needed.variables or n in stored else self._constant(v)
            for n, v in enumerate(self.program.variables)
        )
        return replace(self.program, variables=variables, processes=processes)

    def _need_what_is_sent(self) -> None:
        for p, process in enumerate(self.program.processes):
            for transition in process.transitions:
                for expr in transition.sync.values if transition.sync else ():
                    self._need(p, expr)

    def _collect(self, p: int, process: ir.Process, op: ir.Op) -> bool:
        """Whether the op stays, as far as is known; then what it reads is needed."""
        if not self._stays(p, process, op):
            return False
        for expr in op_expressions(op):
            self._need(p, expr)
        if isinstance(op, (ir.Load, ir.Store, ir.Rmw)):  # of a variable all stores stay or none: witnesses rely on it
            self.needed.variables.update(op.address.variables)
        return True

    def _need(self, p: int, expr: Expr) -> None:
        if expr.__class__ is Const:
            return
        for leaf in walk(expr):
            if isinstance(leaf, Register):
                self.needed.registers.add((p, leaf.index))
            elif isinstance(leaf, RegisterOf):
                self.needed.registers.add((leaf.process, leaf.register))

    def _stays(self, p: int, process: ir.Process, op: ir.Op) -> bool:
        if op.__class__ not in _DROPPABLE:
            return True
        match op:
            case ir.Assign(register, _):
                return (p, register) in self.needed.registers or self._may_fail(p, process, op)
            case ir.Load(register, _, _):
                if self.accesses_stay or (p, register) in self.needed.registers:
                    return True
                return self._may_fail(p, process, op)
            case ir.Store():
                if self.accesses_stay or p in self.observed.buffers or (p, id(op)) in self.awaited:
                    return True
                return bool(self.needed.variables.intersection(_stored(op))) or self._may_fail(p, process, op)
            case ir.Rmw(register):
                if self.accesses_stay or (p, register) in self.needed.registers:
                    return True
                return bool(self.needed.variables.intersection(_stored(op))) or self._may_fail(p, process, op)
            case _:
                return True

    def _may_fail(self, p: int, process: ir.Process, op: ir.Op) -> bool:
        if (p, id(op)) in self.harmless:
            return False
        if may_fail(self.program, process, op):
            return True
        self.harmless.add((p, id(op)))
        return False

    def _sliced(self, p: int, process: ir.Process) -> ir.Process:
        transitions = tuple(self._sliced_transition(p, t) for t in process.transitions)
        written = {register_written(op) for t in transitions for op in t.ops}
        written |= {r for t in transitions if t.sync for r in t.sync.registers}
        registers = tuple(
            r if (p, n) in self.needed.registers or n in written else self._constant(r)
            for n, r in enumerate(process.registers)
        )
        return replace(process, registers=registers, transitions=transitions)

    def _sliced_transition(self, p: int, transition: ir.Transition) -> ir.Transition:
        stays = [(p, id(op)) not in self.dropped for op in transition.ops] if self.dropped else [True]
        if all(stays):
            return transition
        sync = transition.sync
        if sync is not None:
            sync = replace(sync, guard_ops=sum(stays[: sync.guard_ops]))
        ops = tuple(op for op, kept in zip(transition.ops, stays, strict=True) if kept)
        return replace(transition, ops=ops, sync=sync)

    def _constant(self, variable: T) -> T:
        transient = isinstance(variable, ir.RegisterVar) and variable.transient
        value = 0 if transient or self.program.error_locations is not None else variable.init[0]
        if value not in variable.init and not transient:
            return variable
        return replace(variable, init=(value,), domain=ir.Domain(value, value, variable.domain.overflow))


def _awaited(process: ir.Process) -> Iterator[ir.Op]:
    """Stores of plain steps that have a fence behind them: there the step waits for itself, and is never possible."""
    for transition in process.transitions if any(isinstance(op, ir.Fence) for op in distinct_ops(process)) else ():
        fences = [n for n, op in enumerate(transition.ops) if isinstance(op, ir.Fence) and not transition.locked]
        yield from (op for op in transition.ops[: max(fences, default=0)] if isinstance(op, ir.Store))


def _stored(op: ir.Op) -> range:
    address = address_written(op)
    return range(0) if address is None else address.variables
