"""Loops that only read, and may be gone round for ever: a state in which nobody does anything else is a deadlock.

The search calls a state a deadlock if no step is possible and some process has not halted. A thread in
`while (!flag) {}` always has a step. So that the search needs to know nothing of such loops, each gets one more
location, where the process waits. The step into it is a whole round of the loop, taken at once with nothing pending:
it is possible where a round, in memory as it is, comes back to the head of the loop, writes nothing, and leaves every
register that still matters as it was. The way out is possible where some round would end otherwise. Whoever waits
there could as well stand at the head, so no other state becomes reachable; and where all others have halted or wait,
too, memory never changes again, so the loop never ends (await termination; Oberhauser et al., "VSync", 2021).

A read-modify-write that would write what is there counts as a read: it changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from memfence.digraph import components
from memfence.passes.liveness import dead_registers_of
from memfence.program.expressions import Binary, Const, Expr, Register, Unary, conjunction, negate, rewrite
from memfence.program.facts.effects import value_written
from memfence.program.facts.observation import observed_by
from memfence.program.facts.over import ends_the_run
from memfence.program.ir import (
    Assert,
    Assign,
    Assume,
    Domain,
    Fence,
    Load,
    Location,
    Op,
    Process,
    Program,
    RegisterVar,
    Rmw,
    SharedVar,
    Transition,
)
from memfence.records import Record

LANGUAGES = frozenset({"c"})
"""Where a loop without end is a mistake. A model of an algorithm may go round for ever, as it may in Spin."""

MOST_WAYS = 64
MOST_OPS = 64
"""Loops with more ways round, or longer ones, are left as they are: that they may not end is not noticed."""


def with_stuck_awaits(program: Program, expressions: Sequence[Expr] = ()) -> Program:
    """A program in one of the `LANGUAGES`, with a location for each loop that only reads, where those wait who never
    leave it; other programs as they are.

    `expressions`: what is asked about states beside; registers that they look at matter everywhere.
    """
    if program.language not in LANGUAGES:
        return program
    observed = observed_by(program, expressions)
    processes = []
    for number, process in enumerate(program.processes):
        over = ends_the_run(process)
        heads = [head for head in _heads(process) if head not in over]
        dead = dead_registers_of(process, number, observed) if heads else ()
        for head in heads:
            process = _Loop(program, process, head, frozenset(dead[head])).with_waiting()
        processes.append(process)
    return replace(program, processes=tuple(processes))


def _heads(process: Process) -> Iterator[int]:
    """Locations such that every cycle of the control flow has one."""
    successors: list[list[int]] = [[] for _ in process.locations]
    for transition in process.transitions:
        successors[transition.source].append(transition.target)
    state = [0] * len(successors)  # 0 new, 1 on the path, 2 done
    found: set[int] = set()
    state[process.initial] = 1
    work = [(process.initial, iter(successors[process.initial]))]
    while work:
        here, rest = work[-1]
        for target in rest:
            if state[target] == 1:
                found.add(target)
            elif state[target] == 0:
                state[target] = 1
                work.append((target, iter(successors[target])))
                break
        else:
            state[here] = 2
            work.pop()
    return iter(sorted(found))


def _range_of(variables: Sequence[SharedVar]) -> Domain:
    return Domain(min(v.domain.lo for v in variables), max(v.domain.hi for v in variables))


class _Way(Record):
    """Ops that look at memory and registers without changing either; they set `scratch` instead of what they stand for.

    `values`: the registers of the process, as the way has left them.
    """

    ops: tuple[Op, ...]
    values: tuple[Expr, ...]


class _TooMany(Exception):
    """The loop has more ways than are looked at."""


class _Loop:
    def __init__(self, program: Program, process: Process, head: int, dead: frozenset[int]) -> None:
        self.variables = program.variables
        self.process = process
        self.head = head
        self.dead = dead
        successors: list[list[int]] = [[] for _ in process.locations]
        for transition in process.transitions:
            successors[transition.source].append(transition.target)
        part = components(len(successors), successors.__getitem__)
        self.body = frozenset(n for n in range(len(part)) if part[n] == part[head])
        self.scratch: dict[int, int] = {}
        self.registers = list(process.registers)
        self.back: list[_Way] = []
        self.onward: list[_Way] = []

    def with_waiting(self) -> Process:
        """The process with a location to wait in, where rounds that change nothing are possible."""
        start = _Way((), tuple(Register(n) for n in range(len(self.process.registers))))
        try:
            self._from(self.head, start, frozenset())
        except _TooMany:
            return self.process
        if not self.back:
            return self.process
        process, head = self.process, self.process.locations[self.head]
        waits = len(process.locations)
        span = next(t.span for t in process.transitions if t.source == self.head and t.target in self.body)
        steps = [Transition(self.head, waits, (*w.ops, Assume(self._is_same(w))), True, span) for w in self.back]
        others = [*self.onward, *(replace(w, ops=(*w.ops, Assume(negate(self._is_same(w))))) for w in self.back)]
        steps += [Transition(waits, self.head, way.ops, True, span) for way in others]
        location = Location(f"{head.name} for ever", span=head.span)
        return replace(
            process,
            registers=tuple(self.registers),
            locations=(*process.locations, location),
            transitions=(*process.transitions, *steps),
        )

    def _is_same(self, way: _Way) -> Expr:
        """Whether the way leaves every register that matters at the head as it was."""
        return conjunction(
            *(
                Binary("==", value, Register(n))
                for n, value in enumerate(way.values)
                if value != Register(n) and n not in self.dead and not self.process.registers[n].transient
            )
        )

    def _from(self, here: int, way: _Way, passed: frozenset[int]) -> None:
        for transition in self.process.transitions:
            if transition.source == here:
                self._by(transition, way, passed)

    def _by(self, transition: Transition, way: _Way, passed: frozenset[int]) -> None:
        """Go on by this step: to the head, out of the loop, or to where something is written."""
        if transition.sync is not None:
            self._add(self.onward, way)
            return
        transient = (n for n, register in enumerate(self.process.registers) if register.transient)
        values = list(way.values)
        for n in transient:
            values[n] = Const(0)
        reached = [_Way(way.ops, tuple(values))]
        for op in transition.ops:
            reached = [after for before in reached for after in self._past(op, before)]
        for after in reached:
            if transition.target == self.head:
                self._add(self.back, after)
            elif transition.target not in self.body:
                self._add(self.onward, after)
            elif transition.target not in passed:
                self._from(transition.target, after, passed | {transition.target})

    def _add(self, ways: list[_Way], way: _Way) -> None:
        ways.append(way)
        if len(self.back) + len(self.onward) > MOST_WAYS or len(way.ops) > MOST_OPS:
            raise _TooMany

    def _past(self, op: Op, way: _Way) -> Iterator[_Way]:
        """The ways on which the op changes no memory; those on which it does are noted, and end here."""
        if len(way.ops) > MOST_OPS:
            raise _TooMany
        match op:
            case Load(register, address, when, exclusive=False):
                index = self._seen(address.index, way)
                guard = None if when is None else self._seen(when, way)
                yield self._set(register, way, lambda r: Load(r, replace(address, index=index), guard))
            case Assign(register, value):
                seen = self._seen(value, way)
                yield self._set(register, way, lambda r: Assign(r, seen))
            case Assume(condition) | Assert(condition):
                yield replace(way, ops=(*way.ops, Assume(self._seen(condition, way))))
            case Fence():
                yield way
            case Rmw():
                yield from self._past_rmw(op, way)
            case _:  # a store, a lock of the bus, half of a pair
                self._add(self.onward, way)

    def _past_rmw(self, op: Rmw, way: _Way) -> Iterator[_Way]:
        """Where it would write what is there, it only reads."""
        old = self._new(_range_of([self.variables[n] for n in op.address.variables]))
        index = self._seen(op.address.index, way)
        seen = replace(op, operand=self._seen(op.operand, way))
        differs: Expr = Binary("!=", value_written(seen, Register(old)), Register(old))
        if op.expected is not None:
            expected = Binary("==", Register(old), self._seen(op.expected, way))
            differs = Binary("&&", expected, differs)
        read = replace(way, ops=(*way.ops, Load(old, replace(op.address, index=index))))
        self._add(self.onward, replace(read, ops=(*read.ops, Assume(differs))))
        same = replace(read, ops=(*read.ops, Assume(Unary("!", differs))))
        register = op.register
        yield same if register is None else self._set(register, same, lambda r: Assign(r, Register(old)))

    def _set(self, register: int, way: _Way, op: Callable[[int], Op]) -> _Way:
        """The way after an op that sets its own copy of the register."""
        if register not in self.scratch:
            self.scratch[register] = self._new(self.process.registers[register].domain)
        copy = self.scratch[register]
        values = (*way.values[:register], Register(copy), *way.values[register + 1 :])
        return _Way((*way.ops, op(copy)), values)

    def _new(self, domain: Domain) -> int:
        self.registers.append(RegisterVar(f"round{len(self.registers)}", domain, transient=True))
        return len(self.registers) - 1

    def _seen(self, expr: Expr, way: _Way) -> Expr:
        """The expression, with the registers as the way has left them."""
        return rewrite(expr, lambda e: way.values[e.index] if isinstance(e, Register) else e)
