"""Robustness under TSO as a question about SC: a program that fails under SC iff the original is not robust.

Bouajjani, Derevenetc and Meyer, "Checking and Enforcing Robustness against TSO", ESOP 2013. One process, the attacker,
makes a store that stays pending, and goes on from copies of its locations: its later stores are pending, too, its loads
see them, or memory. The others go on under SC, but only by steps that happen after something the attacker read: the
process has taken part already, or conflicts with an access before. One that accesses the variable of the delayed store
closes the cycle (docs/theory/criteria.md); here it fails. `core/attacks` decides the same while SC states go by.

Nobody has an identity in this program, so it may have any number of instances like the original. Beside the original
variables it has `seen`, how each of them was accessed on the way (1: read, 2: written). The attacker keeps its own
newest value of each variable that it may store in registers, with whether there is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memfence.models.spec import TSO
from memfence.passes.orders import for_hardware
from memfence.passes.shared_memory_form import other_communication, shared_memory_form
from memfence.program import ir
from memfence.program.expressions import (
    FALSE,
    TRUE,
    Address,
    Binary,
    Conditional,
    Const,
    Expr,
    Register,
    conjunction,
    disjunction,
    negate,
    registers_of,
)
from memfence.records import Record

NOT, READ, WRITTEN = Const(0), Const(1), Const(2)
SCRATCH = ("phase", "delayed", "seen", "has", "own", "follows", "closes")


class Unsupported(Exception):
    """A step has a shape that this question does not know."""


def robustness_query(program: ir.Program) -> ir.Program:
    """The program to be searched for failures under SC; Unsupported where a step is beyond it.

    A failure that is no attack, such as a value out of its range, is one of the original, too.
    """
    program = for_hardware(shared_memory_form(program), TSO)
    if other_communication(program) is not None:
        raise Unsupported
    count = len(program.variables)
    marks = tuple(ir.SharedVar(f"seen({v.name})", ir.Domain(0, 2)) for v in program.variables)
    more = (ir.SharedVar("phase", ir.BIT), ir.SharedVar("delayed", ir.Domain(0, count)))
    shared = _Shared(count)
    return replace(
        program,
        name=f"{program.name}, robustness query",
        variables=(*program.variables, *marks, *more),
        processes=tuple(_Query(process, shared, program).process() for process in program.processes),
        properties=(),
    )


class _Shared(Record):
    """Where the variables of the query are, behind the `count` original ones."""

    count: int

    def seen(self, address: Address) -> Address:
        return replace(address, base=address.base + self.count)

    @property
    def phase(self) -> Address:
        return Address(2 * self.count, 1, Const(0))

    @property
    def delayed(self) -> Address:
        return Address(2 * self.count + 1, 1, Const(0))


class _Query:
    """One process of the query: its locations, their copies for the attacker, and one where it has failed."""

    def __init__(self, process: ir.Process, shared: _Shared, program: ir.Program) -> None:
        self.original, self.shared = process, shared
        self.copies = len(process.locations)
        self.failed = 2 * self.copies
        base = len(process.registers)
        self.takes_part = base
        self.phase, self.delayed, self.seen, self.has, self.own, self.follows, self.closes = range(
            base + 1, base + 1 + len(SCRATCH)
        )
        values = [v.domain for v in program.variables]
        every = ir.Domain(min([0, *(d.lo for d in values)]), max([2, shared.count, *(d.hi for d in values)]))
        stored = sorted({v for t in process.transitions if not t.locked for v in _stored(t)})
        first = base + 1 + len(SCRATCH)
        self.pending = {v: (first + 2 * n, first + 2 * n + 1) for n, v in enumerate(stored)}
        """For each variable that the attacker may store: whether a store is pending, and the newest value."""
        self.registers = (
            ir.RegisterVar("takes part", ir.BIT),
            *(ir.RegisterVar(f"query {name}", every, transient=True) for name in SCRATCH),
            *(register for v in stored for register in _pending(program.variables[v])),
        )

    def process(self) -> ir.Process:
        locations = self.original.locations
        copies = tuple(ir.Location(f"{at.name}'") for at in locations)
        return replace(
            self.original,
            registers=(*self.original.registers, *self.registers),
            locations=(*locations, *copies, ir.Location("failed")),
            transitions=tuple(q for t in self.original.transitions for q in self.versions(t)),
        )

    def versions(self, t: ir.Transition) -> Iterator[ir.Transition]:
        """The transition before the attack, as the attacker's, and as a step of the others."""
        for ops, is_complete in ways_through(t):
            self.require_simple(t, ops)
            target = t.target if is_complete else self.failed
            later = t.target + self.copies if is_complete else self.failed
            stores = [op for op in ops if isinstance(op, ir.Store)]
            plain = [op for op in ops if not isinstance(op, ir.Fence)]
            yield self.step(t, t.source, target, (*self.in_phase(0), *plain))
            if stores and not t.locked and not _fences_behind_store(ops):
                yield self.step(t, t.source, later, (*self.in_phase(0), *self.delaying(plain)))
            if not t.locked and not any(isinstance(op, ir.Fence) and op.kind == "mfence" for op in ops):
                yield self.step(t, t.source + self.copies, later, [o for op in plain for o in self.walking(op)])
            yield self.step(t, t.source, target, (*self.in_phase(1), *self.following(plain)))

    def require_simple(self, t: ir.Transition, ops: Sequence[ir.Op]) -> None:
        """At most one store in a plain step, behind everything that it loads; addresses that stay what they are."""
        stores = [n for n, op in enumerate(ops) if isinstance(op, ir.Store)]
        loads = [n for n, op in enumerate(ops) if isinstance(op, ir.Load)]
        if not t.locked and stores and (len(stores) > 1 or any(n > stores[0] for n in loads)):
            raise Unsupported
        for number, op in enumerate(ops):
            match op:
                case ir.Lock() | ir.Unlock() | ir.Rmw() | ir.Store(direct=True) | ir.Store(exclusive=True):
                    raise Unsupported
                case ir.Load() | ir.Store():
                    read = registers_of(op.address.index) | (registers_of(op.when) if op.when is not None else set())
                    changed = {o.register for o in ops[number:] if isinstance(o, ir.Load | ir.Assign)}
                    if read & changed or (isinstance(op, ir.Store) and op.when is not None):
                        raise Unsupported
                case _:
                    pass

    def step(self, t: ir.Transition, source: int, target: int, ops: Sequence[ir.Op]) -> ir.Transition:
        return ir.Transition(source, target, tuple(ops), t.locked, t.span)

    def in_phase(self, phase: int) -> tuple[ir.Op, ...]:
        return ir.Load(self.phase, self.shared.phase), ir.Assume(Binary("==", Register(self.phase), Const(phase)))

    def delaying(self, ops: Sequence[ir.Op]) -> Iterator[ir.Op]:
        """The attack begins: what the step reads is read, what it stores stays pending."""
        for op in ops:
            match op:
                case ir.Store(address):
                    yield from self.keeping(op)
                    yield ir.Store(self.shared.delayed, _number(address))
                    yield ir.Store(self.shared.phase, TRUE)
                case ir.Load(_, address):
                    yield ir.Store(self.shared.seen(address), _made(op))
                    yield op
                case _:
                    yield op

    def keeping(self, op: ir.Store) -> Iterator[ir.Op]:
        for variable in op.address.variables:
            has, own = self.pending[variable]
            if op.address.variable is not None:
                yield from (ir.Assign(own, op.value), ir.Assign(has, TRUE))
                continue
            is_it = _is_variable(op.address, variable)
            yield ir.Assign(own, Conditional(is_it, op.value, Register(own)))
            yield ir.Assign(has, Conditional(is_it, TRUE, Register(has)))

    def walking(self, op: ir.Op) -> Iterator[ir.Op]:
        """The attacker goes on: its stores stay pending, its loads see these, or memory."""
        match op:
            case ir.Store():
                yield from self.keeping(op)
            case ir.Load(register, address):
                yield ir.Assign(self.has, conjunction(_made(op), self.newest(address, 0)))
                yield ir.Assign(self.own, self.newest(address, 1))
                yield ir.Load(self.seen, self.shared.seen(address))
                from_memory = conjunction(_made(op), negate(Register(self.has)))
                is_news = conjunction(from_memory, Binary("==", Register(self.seen), NOT))
                yield ir.Store(self.shared.seen(address), Conditional(is_news, READ, Register(self.seen)))
                yield op
                yield ir.Assign(register, Conditional(Register(self.has), Register(self.own), Register(register)))
            case _:
                yield op

    def newest(self, address: Address, part: int) -> Expr:
        """Whether the attacker has a store pending to the address (0), or its value (1)."""
        found: Expr = Const(0)
        for variable in address.variables:
            if variable in self.pending:
                own = Register(self.pending[variable][part])
                found = (
                    own if address.variable is not None else Conditional(_is_variable(address, variable), own, found)
                )
        return found

    def following(self, ops: Sequence[ir.Op]) -> Iterator[ir.Op]:
        """Another process goes on, if the step happens after something on the way; it may close the cycle."""
        accesses = [op for op in ops if isinstance(op, ir.Load | ir.Store)]
        if not accesses:
            yield from ops
            return
        yield ir.Load(self.delayed, self.shared.delayed)
        yield ir.Assign(self.follows, Register(self.takes_part))
        yield ir.Assign(self.closes, FALSE)
        for op in ops:
            if isinstance(op, ir.Load | ir.Store):
                yield ir.Load(self.seen, self.shared.seen(op.address))
                least = WRITTEN if isinstance(op, ir.Load) else READ
                conflicts = conjunction(_made(op), Binary(">=", Register(self.seen), least))
                yield ir.Assign(self.follows, disjunction(Register(self.follows), conflicts))
                meets = conjunction(_made(op), Binary("==", _number(op.address), Register(self.delayed)))
                yield ir.Assign(self.closes, disjunction(Register(self.closes), meets))
            yield op
        yield ir.Assume(Register(self.follows))
        yield ir.Assert(negate(Register(self.closes)))
        yield ir.Assign(self.takes_part, TRUE)
        for op in accesses:
            yield ir.Load(self.seen, self.shared.seen(op.address))
            mark = READ if isinstance(op, ir.Load) else WRITTEN
            is_news = conjunction(_made(op), Binary("<", Register(self.seen), mark))
            yield ir.Store(self.shared.seen(op.address), Conditional(is_news, mark, Register(self.seen)))


def ways_through(t: ir.Transition) -> Iterator[tuple[tuple[ir.Op, ...], bool]]:
    """The ops of the step where everything it asserts is true; and where something is not, which ends it: what it has
    read until then, without what it would have stored."""
    yield tuple(ir.Assume(op.condition) if isinstance(op, ir.Assert) else op for op in t.ops), True
    for number, op in enumerate(t.ops):
        if isinstance(op, ir.Assert):
            before = (ir.Assume(o.condition) if isinstance(o, ir.Assert) else o for o in t.ops[:number])
            reads = tuple(o for o in before if not isinstance(o, ir.Store))
            yield (*reads, ir.Assume(negate(op.condition))), False


def _fences_behind_store(ops: Sequence[ir.Op]) -> bool:
    """Whether the step needs its own store to be in memory before it ends."""
    first = next(n for n, op in enumerate(ops) if isinstance(op, ir.Store))
    return any(isinstance(op, ir.Fence) and op.kind == "mfence" for op in ops[first:])


def _stored(t: ir.Transition) -> Iterator[int]:
    return (v for op in t.ops if isinstance(op, ir.Store) for v in op.address.variables)


def _pending(variable: ir.SharedVar) -> tuple[ir.RegisterVar, ir.RegisterVar]:
    has = ir.RegisterVar(f"has({variable.name})", ir.BIT)
    return has, ir.RegisterVar(f"own({variable.name})", variable.domain, variable.init[:1])


def _is_variable(address: Address, variable: int) -> Expr:
    return Binary("==", address.index, Const(variable - address.base))


def _made(op: ir.Load | ir.Store) -> Expr:
    """Whether the access takes place."""
    return TRUE if op.when is None else op.when


def _number(address: Address) -> Expr:
    """The number of the variable at the address, from 1."""
    known = address.variable
    return Const(known + 1) if known is not None else Binary("+", address.index, Const(address.base + 1))
