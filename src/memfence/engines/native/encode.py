"""From the IR to the native machine: slots, flat expression code, edges, and which locations are private.

The only place that knows how the core numbers things. Widths are checked here: the seam is never the first to notice.

Slots: the shared variables; the owner of the bus lock, if lock regions with cycles are left; then for each process its
location, the number of its pending stores, and its registers. The core appends the slots of its buffers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import assert_never

from memfence import _core
from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.models.state import Rendezvous, Run
from memfence.program.expressions import (
    Address,
    At,
    Binary,
    BufferEmpty,
    Conditional,
    Const,
    Expr,
    Register,
    RegisterOf,
    Shared,
    Unary,
    disjunction,
    fold,
    negate,
)
from memfence.program.facts.effects import is_local, stored_variables
from memfence.program.ir import (
    Assert,
    Assign,
    Assume,
    Domain,
    Fence,
    Load,
    Lock,
    Op,
    Process,
    Program,
    Rmw,
    Store,
    Transition,
    Unlock,
)
from memfence.program.orders import MemoryOrder

SMALLEST, LARGEST = -(2**31), 2**31 - 1
"""The values that the core knows."""
MOST_INITIAL_STATES = 1_000_000
DEEPEST_EXPRESSION = 250
_UNARY = {"-": 2, "!": 3, "~": 4}
_BINARY = {
    op: 5 + number
    for number, op in enumerate(("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">="))
}
_CONST, _SLOT, _AND_THEN, _OR_ELSE, _TRUTH, _JUMP_IF_ZERO, _JUMP, _ELEMENT = 0, 1, 21, 22, 23, 24, 25, 26
_LOAD, _STORE, _ASSIGN, _ASSUME, _ASSERT, _MFENCE, _SFENCE, _LOCK, _UNLOCK = range(9)


@dataclass(frozen=True, slots=True)
class Slots:
    """Where things stand in a native state."""

    variables: int
    lock: int | None
    locations: tuple[int, ...]
    registers: tuple[int, ...]  # the first of each process
    count: int

    def pending(self, process: int) -> int:
        return self.locations[process] + 1

    def register(self, process: int, register: int) -> int:
        return self.registers[process] + register


@dataclass(frozen=True, slots=True)
class Encoded:
    """A machine, what its edges mean in terms of `program`, and the numbers of the expressions asked for."""

    program: Program
    machine: _core.Machine
    slots: Slots
    edges: tuple[Run | Rendezvous, ...]
    expressions: tuple[int, ...]

    def origin_of(self, edge: int) -> tuple[int, ...]:
        """Numbers of the loaded program's transitions that the edge (of one process) stands for, in order."""
        step = self.edges[edge]
        assert isinstance(step, Run)
        return self.program.processes[step.process].transitions[step.transition].origin or (step.transition,)


def encode(
    program: Program,
    expressions: tuple[Expr, ...] = (),
    *,
    private: tuple[tuple[int, ...], ...] | None = None,
    symmetric: tuple[tuple[int, ...], ...] = (),
    loaded: Program | None = None,
) -> Encoded:
    """The machine of `program`; `private[p][location]` as `engines.private` computes it, else nothing is private.

    `symmetric` are classes of interchangeable processes, as `engines.symmetry` finds them.
    Each of `expressions` (over the whole state) becomes one that the core can evaluate. `loaded` is the program before
    reductions, from which the parts of fused transitions are known; only the criteria of section 7 need them.
    """
    return _Encoder(program, loaded).encode(expressions, private, symmetric)


def number_slots(program: Program) -> Slots:
    """The numbering that the core and this module agree on."""
    at = len(program.variables)
    uses_lock = any(isinstance(op, Lock | Unlock) for p in program.processes for t in p.transitions for op in t.ops)
    lock = at if uses_lock else None
    at += uses_lock
    locations, registers = [], []
    for process in program.processes:
        locations.append(at)
        registers.append(at + 2)
        at += 2 + len(process.registers)
    return Slots(len(program.variables), lock, tuple(locations), tuple(registers), at)


class _Encoder:
    def __init__(self, program: Program, loaded: Program | None) -> None:
        self.program = program
        self.loaded = loaded
        self.slots = number_slots(program)
        self.codes: dict[tuple[int, ...], int] = {}

    def encode(
        self,
        expressions: tuple[Expr, ...],
        private: tuple[tuple[int, ...], ...] | None,
        symmetric: tuple[tuple[int, ...], ...],
    ) -> Encoded:
        wanted = tuple(self.expression(e, 0) for e in expressions)
        edges: list[_core.Edge] = []
        meaning: list[Run | Rendezvous] = []
        owners: list[list[int]] = [[] for _ in self.program.processes]
        for p, process in enumerate(self.program.processes):
            for number, transition in enumerate(process.transitions):
                for step, edge in self.edges(p, number, transition):
                    owners[p].append(len(edges))
                    edges.append(edge)
                    meaning.append(step)
        processes = [self.process(p, owners[p], private[p] if private else None) for p in range(len(owners))]
        machine = _core.Machine(
            self.all_slots(),
            len(self.program.variables),
            -1 if self.slots.lock is None else self.slots.lock,
            [list(code) for code in self.codes],
            edges,
            processes,
            self.initial(),
            any(location.committed for p in self.program.processes for location in p.locations),
            [list(members) for members in symmetric],
            self.error(),
        )
        return Encoded(self.program, machine, self.slots, tuple(meaning), wanted)

    def all_slots(self) -> list[_core.Slot]:
        slots = [_slot(v.domain) for v in self.program.variables]
        if self.slots.lock is not None:
            slots.append(_core.Slot(0, len(self.program.processes), False, True))
        for process in self.program.processes:
            slots.append(_core.Slot(0, len(process.locations) - 1, False, True))
            slots.append(_core.Slot(0, 0, False, True))
            slots += [_slot(r.domain, not r.transient) for r in process.registers]
        return slots

    def initial(self) -> list[list[int]]:
        choices: list[tuple[int, ...]] = [v.init for v in self.program.variables]
        if self.slots.lock is not None:
            choices.append((0,))
        for process in self.program.processes:
            choices += [(process.initial,), (0,)]
            choices += [(0,) if r.transient else r.init for r in process.registers]
        count = prod(len(c) for c in choices)
        if count > MOST_INITIAL_STATES:
            at = Label(self.program.source.span(0, 1))
            message = f"the program has {count} initial states; at most {MOST_INITIAL_STATES} can be explored"
            raise InputError([Diagnostic(Code.TOO_LARGE, message, at, hint="give fewer initial values")])
        return [list(values) for values in product(*choices)]

    def error(self) -> list[int]:
        if self.program.error_locations is None:
            return []
        values = [0] * self.slots.count
        for slot, location in zip(self.slots.locations, self.program.error_locations, strict=True):
            values[slot] = location
        return values

    def process(self, number: int, edges: list[int], private: tuple[int, ...] | None) -> _core.Process:
        process = self.program.processes[number]
        return _core.Process(
            self.slots.locations[number],
            self.slots.pending(number),
            len(process.locations),
            len(process.registers),
            edges,
            list(stored_variables(process)),
            [self.slots.register(number, i) for i, r in enumerate(process.registers) if r.transient],
            list(private) if private else [0] * len(process.locations),
            [int(location.committed) for location in process.locations],
            uses_sfence(process),
        )

    def edges(self, p: int, number: int, t: Transition) -> list[tuple[Run | Rendezvous, _core.Edge]]:
        if t.sync is None:
            ways = _ways(zip(t.ops, self.parts(p, t), strict=True))
            return [(Run(p, number), self.edge(p, t, list(t.origin) or [number], way)) for way in ways]
        if not t.sync.sends:
            return []
        return [
            self.meeting(p, number, t, q, m, other)
            for q, process in enumerate(self.program.processes)
            for m, other in enumerate(process.transitions)
            if q != p and other.sync and not other.sync.sends and other.sync.channel == t.sync.channel
        ]

    def edge(self, p: int, t: Transition, origin: list[int], way: Sequence[tuple[Op, int]]) -> _core.Edge:
        ops = [self.op(p, op, t, part) for op, part in way]
        return _core.Edge(p, t.source, t.target, t.locked, -1, 0, 0, False, ops, origin, _required(way))

    def meeting(
        self, p: int, number: int, sending: Transition, q: int, other: int, receiving: Transition
    ) -> tuple[Rendezvous, _core.Edge]:
        s, r = sending.sync, receiving.sync
        assert s is not None and r is not None
        ops = [self.op(p, op, sending) for op in sending.ops[: s.guard_ops]]
        ops += [self.op(q, op, receiving) for op in receiving.ops[: r.guard_ops]]
        ops += [
            _core.Op(_ASSIGN, q, False, self.slots.register(q, register), 0, 0, 0, self.expression(value, p), -1, 0)
            for value, register in zip(s.values, r.registers, strict=True)
        ]
        ops += [self.op(q, op, receiving) for op in receiving.ops[r.guard_ops :]]
        ops += [self.op(p, op, sending) for op in sending.ops[s.guard_ops :]]
        edge = _core.Edge(
            p, sending.source, sending.target, sending.locked,
            q, receiving.source, receiving.target, receiving.locked, ops, list(sending.origin) or [number], len(ops),
        )  # fmt: skip
        return Rendezvous(Run(p, number), Run(q, other)), edge

    def parts(self, p: int, t: Transition) -> list[int]:
        """For each op, which of the transitions fused into `t` it comes from. Added ops stay with the last."""
        if len(t.origin) < 2 or self.loaded is None:
            return [0] * len(t.ops)
        whole = [
            (part, op)
            for part, number in enumerate(t.origin)
            for op in self.loaded.processes[p].transitions[number].ops
        ]
        parts: list[int] = []
        at = 0
        for op in t.ops:
            if at < len(whole) and whole[at][1] == op:
                parts.append(whole[at][0])
                at += 1
            else:
                parts.append(parts[-1] if parts else 0)
        return parts

    def op(self, p: int, op: Op, transition: Transition, part: int = 0) -> _core.Op:
        locked = transition.locked
        match op:
            case Load(register, address, when):
                base, size, index = self.address(address, p)
                condition = -1 if when is None else self.expression(when, p)
                return _core.Op(
                    _LOAD, p, locked, self.slots.register(p, register), base, size, index, 0, condition, part
                )
            case Store(address, value, direct, order, when):
                assert order is MemoryOrder.PLAIN and when is None, op
                base, size, index = self.address(address, p)
                return _core.Op(_STORE, p, locked or direct, 0, base, size, index, self.expression(value, p), -1, part)
            case Assign(register, value):
                slot = self.slots.register(p, register)
                return _core.Op(_ASSIGN, p, locked, slot, 0, 0, 0, self.expression(value, p), -1, part)
            case Assume(condition):
                return _core.Op(_ASSUME, p, locked, 0, 0, 0, 0, self.expression(condition, p), -1, part)
            case Assert(condition):
                return _core.Op(_ASSERT, p, locked, 0, 0, 0, 0, self.expression(condition, p), -1, part)
            case Fence("mfence" | "sfence" as kind):
                return _core.Op(_MFENCE if kind == "mfence" else _SFENCE, p, locked, 0, 0, 0, 0, 0, -1, part)
            case Fence() | Rmw():
                raise AssertionError(f"{op}: passes.orders comes before")
            case Lock():
                return _core.Op(_LOCK, p, locked, 0, 0, 0, 0, 0, -1, part)
            case Unlock():
                return _core.Op(_UNLOCK, p, locked, 0, 0, 0, 0, 0, -1, part)
            case _:
                assert_never(op)

    def address(self, address: Address, p: int) -> tuple[int, int, int]:
        return address.base, address.size, self.expression(address.index, p)

    def expression(self, expr: Expr, p: int) -> int:
        code: list[int] = []
        depth = self.emit(fold(expr), p, code)
        if depth > DEEPEST_EXPRESSION:
            at = Label(self.program.source.span(0, 1))
            raise InputError([Diagnostic(Code.TOO_DEEP, "an expression is nested too deeply", at)])
        return self.codes.setdefault(tuple(code), len(self.codes))

    def emit(self, expr: Expr, p: int, code: list[int]) -> int:
        """Append the code of `expr`; return how many places of the stack it needs."""
        match expr:
            case Const(value):
                code += self.constant(value)
                return 1
            case Register(number):
                code += [_SLOT, self.slots.register(p, number)]
                return 1
            case RegisterOf(owner, number):
                code += [_SLOT, self.slots.register(owner, number)]
                return 1
            case BufferEmpty(owner):
                code += [_SLOT, self.slots.pending(owner), _CONST, 0, _BINARY["=="]]
                return 2
            case At(owner, locations):
                slot = self.slots.locations[owner]
                if len(locations) == 1:
                    code += [_SLOT, slot, _CONST, next(iter(locations)), _BINARY["=="]]
                    return 2
                # A location stands for itself only: At over several is their disjunction.
                return self.emit(disjunction(*(At(owner, frozenset({at})) for at in sorted(locations))), p, code)
            case Shared(address):
                if (variable := address.variable) is not None:
                    code += [_SLOT, variable]
                    return 1
                depth = self.emit(address.index, p, code)
                code += [_ELEMENT, address.base, address.size]
                return depth
            case Unary(op, operand):
                depth = self.emit(operand, p, code)
                code.append(_UNARY[op])
                return depth
            case Binary("&&" | "||" as op, left, right):
                first = self.emit(left, p, code)
                code += [_AND_THEN if op == "&&" else _OR_ELSE, 0]
                hole = len(code) - 1
                second = self.emit(right, p, code)
                code.append(_TRUTH)
                code[hole] = len(code)
                return max(first, second)
            case Binary(op, left, right):
                first = self.emit(left, p, code)
                second = self.emit(right, p, code)
                code.append(_BINARY[op])
                return max(first, second + 1)
            case Conditional(condition, then, otherwise):
                first = self.emit(condition, p, code)
                code += [_JUMP_IF_ZERO, 0]
                to_else = len(code) - 1
                second = self.emit(then, p, code)
                code += [_JUMP, 0]
                to_end = len(code) - 1
                code[to_else] = len(code)
                third = self.emit(otherwise, p, code)
                code[to_end] = len(code)
                return max(first, second, third)
            case _:
                assert_never(expr)

    def constant(self, value: int) -> list[int]:
        if -(2**31) <= value < 2**31:
            return [_CONST, value]
        # Wider constants are put together: high * 2**31 + low.
        high, low = value >> 31, value & (2**31 - 1)
        if not -(2**31) <= high < 2**31:
            at = Label(self.program.source.span(0, 1))
            raise InputError([Diagnostic(Code.TOO_LARGE, f"`{value}` needs more than 62 bits", at)])
        return [_CONST, high, _CONST, 31, _BINARY["<<"], _CONST, low, _BINARY["+"]]


def uses_sfence(process: Process) -> bool:
    """Whether its buffers under PSO may hold separators."""
    return any(op == Fence("sfence") for t in process.transitions for op in t.ops)


def separator_of(domain: Domain) -> int | None:
    """The value that stands for a separator among pending stores: one that the variable cannot have, if any."""
    if domain.hi < LARGEST:
        return max(domain.hi, 0) + 1
    return min(domain.lo, 0) - 1 if domain.lo > SMALLEST else None


def _slot(domain: Domain, stored: bool = True) -> _core.Slot:
    return _core.Slot(domain.lo, domain.hi, domain.overflow == "wrap", stored)


def _ways(ops: Iterable[tuple[Op, int]]) -> list[list[tuple[Op, int]]]:
    """The ops of one step, with and without each store that depends on a condition: the core has no such store."""
    ways: list[list[tuple[Op, int]]] = [[]]
    for op, part in ops:
        choices: list[list[Op]] = [[op]]
        if isinstance(op, Store) and op.when is not None:
            choices = [[Assume(op.when), replace(op, when=None)], [Assume(negate(op.when))]]
        ways = [[*way, *((one, part) for one in choice)] for way in ways for choice in choices]
    return ways


def _required(ops: Sequence[tuple[Op, int]]) -> int:
    """How many ops make up everything to the end of the part with the last access; a fence behind it is not needed."""
    needed = (part for op, part in ops if not is_local(op) and not isinstance(op, Fence))
    last = max(needed, default=-1)
    return sum(part <= last for _, part in ops)


def halting_locations(process: Process) -> frozenset[int]:
    """The locations that no transition leaves."""
    return frozenset(range(len(process.locations))) - {t.source for t in process.transitions}
