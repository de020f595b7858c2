"""From the IR to the native machine: slots, edges, and which locations are private.

Widths are checked here: the seam is never the first to notice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import assert_never

from memfence import _core
from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.engines.native.expression_code import ExpressionCodes
from memfence.engines.native.slots import Slots, number_slots
from memfence.models.state import ProcessStep, Rendezvous
from memfence.program import ir
from memfence.program.expressions import Address, Expr, negate
from memfence.program.facts.effects import is_local, stored_variables
from memfence.program.orders import MemoryOrder
from memfence.records import Record

MOST_INITIAL_STATES = 1_000_000
_LOAD, _STORE, _ASSIGN, _ASSUME, _ASSERT, _MFENCE, _SFENCE, _LOCK, _UNLOCK = range(9)


class Encoded(Record):
    """A machine, what its edges mean in terms of `program`, and the numbers of the expressions asked for.

    `symmetric`: processes that a search may exchange.
    """

    program: ir.Program
    machine: _core.Machine
    slots: Slots
    edges: tuple[ProcessStep | Rendezvous, ...]
    expressions: tuple[int, ...]
    symmetric: tuple[tuple[int, ...], ...] = ()

    def origin_of(self, edge: int) -> tuple[int, ...]:
        """Numbers of the loaded program's transitions that the edge (of one process) stands for, in order."""
        step = self.edges[edge]
        assert isinstance(step, ProcessStep)
        return self.program.processes[step.process].transitions[step.transition].origin or (step.transition,)


def encode(
    program: ir.Program,
    expressions: tuple[Expr, ...] = (),
    *,
    private: tuple[tuple[int, ...], ...] | None = None,
    symmetric: tuple[tuple[int, ...], ...] = (),
    loaded: ir.Program | None = None,
) -> Encoded:
    """The machine of `program`; `private[p][location]` as `engines.private` computes it, else nothing is private.

    `symmetric` are classes of interchangeable processes, as `engines.symmetry` finds them.
    Each of `expressions` (over the whole state) becomes one that the core can evaluate. `loaded` is the program before
    reductions, from which the parts of fused transitions are known; only the criteria need them.
    """
    return _Encoder(program, loaded).encode(expressions, private, symmetric)


class _Encoder:
    def __init__(self, program: ir.Program, loaded: ir.Program | None) -> None:
        self.program = program
        self.loaded = loaded
        self.slots = number_slots(program)
        self.codes = ExpressionCodes(self.slots, program.source)
        # What became of an op in a process, locked or not, as a part: front ends make equal ops one object. The op is
        # kept, so that nothing else can get its `id`.
        self.known: dict[tuple[int, int, bool, int], tuple[ir.Op, _core.Op]] = {}

    def encode(
        self,
        expressions: tuple[Expr, ...],
        private: tuple[tuple[int, ...], ...] | None,
        symmetric: tuple[tuple[int, ...], ...],
    ) -> Encoded:
        wanted = tuple(self.codes.number(e, 0) for e in expressions)
        edges: list[_core.Edge] = []
        meaning: list[ProcessStep | Rendezvous] = []
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
            [list(code) for code in self.codes.codes],
            edges,
            processes,
            self.initial(),
            any(location.committed for p in self.program.processes for location in p.locations),
            [list(members) for members in symmetric],
            self.error(),
        )
        return Encoded(self.program, machine, self.slots, tuple(meaning), wanted, symmetric)

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

    def edges(self, p: int, number: int, t: ir.Transition) -> list[tuple[ProcessStep | Rendezvous, _core.Edge]]:
        if t.sync is None:
            origin, parts = list(t.origin) or [number], self.parts(p, t)
            if not any(isinstance(op, ir.Store) and op.when is not None for op in t.ops):
                return [(ProcessStep(p, number), self.edge(p, t, origin, list(zip(t.ops, parts, strict=True))))]
            ways = _ways(zip(t.ops, parts, strict=True))
            return [(ProcessStep(p, number), self.edge(p, t, origin, way)) for way in ways]
        if not t.sync.sends:
            return []
        return [
            self.meeting(p, number, t, q, m, other)
            for q, process in enumerate(self.program.processes)
            for m, other in enumerate(process.transitions)
            if q != p and other.sync and not other.sync.sends and other.sync.channel == t.sync.channel
        ]

    def edge(self, p: int, t: ir.Transition, origin: list[int], way: Sequence[tuple[ir.Op, int]]) -> _core.Edge:
        ops = [self.op(p, op, t, part) for op, part in way]
        return _core.Edge(p, t.source, t.target, t.locked, -1, 0, 0, False, ops, origin, _required(way))

    def meeting(
        self, p: int, number: int, sending: ir.Transition, q: int, other: int, receiving: ir.Transition
    ) -> tuple[Rendezvous, _core.Edge]:
        s, r = sending.sync, receiving.sync
        assert s is not None and r is not None
        ops = [self.op(p, op, sending) for op in sending.ops[: s.guard_ops]]
        ops += [self.op(q, op, receiving) for op in receiving.ops[: r.guard_ops]]
        ops += [
            _core.Op(_ASSIGN, q, False, self.slots.register(q, register), 0, 0, 0, self.codes.number(value, p), -1, 0)
            for value, register in zip(s.values, r.registers, strict=True)
        ]
        ops += [self.op(q, op, receiving) for op in receiving.ops[r.guard_ops :]]
        ops += [self.op(p, op, sending) for op in sending.ops[s.guard_ops :]]
        edge = _core.Edge(
            p, sending.source, sending.target, sending.locked,
            q, receiving.source, receiving.target, receiving.locked, ops, list(sending.origin) or [number], len(ops),
        )  # fmt: skip
        return Rendezvous(ProcessStep(p, number), ProcessStep(q, other)), edge

    def parts(self, p: int, t: ir.Transition) -> list[int]:
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

    def op(self, p: int, op: ir.Op, transition: ir.Transition, part: int = 0) -> _core.Op:
        key = (p, id(op), transition.locked, part)
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = (op, self.encoded_op(p, op, transition.locked, part))
        return known[1]

    def encoded_op(self, p: int, op: ir.Op, locked: bool, part: int) -> _core.Op:
        match op:
            case ir.Load(register, address, when):
                base, size, index = self.address(address, p)
                condition = -1 if when is None else self.codes.number(when, p)
                return _core.Op(
                    _LOAD, p, locked, self.slots.register(p, register), base, size, index, 0, condition, part
                )
            case ir.Store(address, value, direct, order, when):
                assert order is MemoryOrder.PLAIN and when is None, op
                base, size, index = self.address(address, p)
                return _core.Op(
                    _STORE, p, locked or direct, 0, base, size, index, self.codes.number(value, p), -1, part
                )
            case ir.Assign(register, value):
                slot = self.slots.register(p, register)
                return _core.Op(_ASSIGN, p, locked, slot, 0, 0, 0, self.codes.number(value, p), -1, part)
            case ir.Assume(condition):
                return _core.Op(_ASSUME, p, locked, 0, 0, 0, 0, self.codes.number(condition, p), -1, part)
            case ir.Assert(condition):
                return _core.Op(_ASSERT, p, locked, 0, 0, 0, 0, self.codes.number(condition, p), -1, part)
            case ir.Fence("mfence" | "sfence" as kind):
                return _core.Op(_MFENCE if kind == "mfence" else _SFENCE, p, locked, 0, 0, 0, 0, 0, -1, part)
            case ir.Fence() | ir.Rmw():
                raise AssertionError(f"{op}: passes.orders comes before")
            case ir.Lock():
                return _core.Op(_LOCK, p, locked, 0, 0, 0, 0, 0, -1, part)
            case ir.Unlock():
                return _core.Op(_UNLOCK, p, locked, 0, 0, 0, 0, 0, -1, part)
            case _:
                assert_never(op)

    def address(self, address: Address, p: int) -> tuple[int, int, int]:
        return address.base, address.size, self.codes.number(address.index, p)


def uses_sfence(process: ir.Process) -> bool:
    """Whether its buffers under PSO may hold separators, and so have a mark for each entry."""
    return any(op == ir.Fence("sfence") for t in process.transitions for op in t.ops)


def _slot(domain: ir.Domain, stored: bool = True) -> _core.Slot:
    return _core.Slot(domain.lo, domain.hi, domain.overflow == "wrap", stored)


def _ways(ops: Iterable[tuple[ir.Op, int]]) -> list[list[tuple[ir.Op, int]]]:
    """The ops of one step, with and without each store that depends on a condition: the core has no such store."""
    ways: list[list[tuple[ir.Op, int]]] = [[]]
    for op, part in ops:
        choices: list[list[ir.Op]] = [[op]]
        if isinstance(op, ir.Store) and op.when is not None:
            choices = [[ir.Assume(op.when), replace(op, when=None)], [ir.Assume(negate(op.when))]]
        ways = [[*way, *((one, part) for one in choice)] for way in ways for choice in choices]
    return ways


def _required(ops: Sequence[tuple[ir.Op, int]]) -> int:
    """How many ops make up everything to the end of the part with the last access; a fence behind it is not needed."""
    needed = (part for op, part in ops if not is_local(op) and not isinstance(op, ir.Fence))
    last = max(needed, default=-1)
    return sum(part <= last for _, part in ops)
