"""The persistence paper's program Q (section 8, Figs. 10-14): an assertion fails under SC iff the program is fragile.

A run of Q has three phases. 0: the program runs as it is. 1: one process, the pivot, has made a store that stays
pending, and goes on alone through reads and register work (Fig. 12), from copies of its locations. 2: the pivot was
about to read some other variable; another process is about to change it, which completes the pattern (Fig. 14).

Where this differs from the figures:
- A transition is one atomic step here, so the phase need not be locked (-1) while one is simulated.
- The figures mark the variables y and x by storing new constants in them. Then a pivot that reads its own y finds the
  mark instead of its value, and a step of another process that reads y finds it, too. Here the marks are variables of
  their own, the pending value is `own`, and memory stays as it was: `new` is not needed.
- The write that completes the pattern may be a locked one (as printed, only plain writes complete it).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.models.spec import TSO
from memfence.passes.orders import for_hardware
from memfence.passes.shared_memory_form import other_communication, shared_memory_form
from memfence.program import ir
from memfence.program.expressions import Address, Binary, Conditional, Const, Expr, Register, variable_address
from memfence.records import Record

SCRATCH = ("phase", "delayed", "own", "read", "before", "after")


def persistence_query(program: ir.Program) -> ir.Program:
    """The program Q of `program`, to be run under SC.

    InputError where processes communicate otherwise than through memory, and for steps that store and access another
    variable besides: the paper's language has none, and a single pending store is not enough then. Run-time errors of
    the program end a run.
    """
    program = for_hardware(shared_memory_form(program), TSO)
    _require_single_accesses(program)
    values = [v.domain for v in program.variables]
    hull = ir.Domain(min((d.lo for d in values), default=0), max((d.hi for d in values), default=0))
    marks = ir.Domain(0, len(program.variables))
    added = (
        ir.SharedVar("query_phase", ir.Domain(0, 2)),
        ir.SharedVar("query_delayed", marks),
        ir.SharedVar("query_own", replace(hull, lo=min(hull.lo, 0), hi=max(hull.hi, 0))),
        ir.SharedVar("query_read", marks),
    )
    first = len(program.variables)
    phase, delayed, own, read = (variable_address(first + n) for n in range(len(added)))
    shared = _Shared(phase, delayed, own, read, everything=first)
    return replace(
        program,
        name=f"{program.name}, persistence query",
        variables=(*program.variables, *added),
        processes=tuple(_Instrumented(p, shared, marks, hull).process() for p in program.processes),
        properties=(),
    )


def _require_single_accesses(program: ir.Program) -> None:
    found = other_communication(program)
    for process in program.processes:
        for t in process.transitions:
            accesses = [op.address for op in t.ops if isinstance(op, ir.Load | ir.Store)]
            if found is not None or len(accesses) < 2 or not any(isinstance(op, ir.Store) for op in t.ops):
                continue
            if not t.locked:
                found = ("a plain step that stores and accesses memory again", t.span)
            elif len({address.variable for address in accesses}) > 1 or accesses[0].variable is None:
                found = ("a locked step that writes depending on another variable", t.span)
    if found is not None:
        message = f"{found[0]} has no counterpart in the persistence query"
        hint = "make it several steps, or one that is locked and has a single variable"
        raise InputError([Diagnostic(Code.UNSUPPORTED, message, Label(found[1]), hint=hint)])


class _Shared(Record):
    """The variables of the query; `everything`: how many variables the program itself has."""

    phase: Address
    delayed: Address
    own: Address
    read: Address
    everything: int


class _Instrumented:
    """One process of Q: its locations, their copies for the pivot, and one where the pivot has stopped."""

    def __init__(self, process: ir.Process, shared: _Shared, marks: ir.Domain, values: ir.Domain) -> None:
        self.original = process
        self.shared = shared
        self.copies = len(process.locations)
        self.stopped = 2 * self.copies
        base = len(process.registers)
        self.phase, self.delayed, self.own, self.read, self.before, self.after = range(base, base + len(SCRATCH))
        every = ir.Domain(min(values.lo, marks.lo), max(values.hi, marks.hi, 2))
        self.scratch = tuple(ir.RegisterVar(f"query_{name}", every, transient=True) for name in SCRATCH)

    def process(self) -> ir.Process:
        locations = self.original.locations
        copies = tuple(ir.Location(f"{at.name}'") for at in locations)
        transitions = [q for t in self.original.transitions for q in self.versions(t)]
        return replace(
            self.original,
            registers=(*self.original.registers, *self.scratch),
            locations=(*locations, *copies, ir.Location("stopped")),
            transitions=tuple(transitions),
        )

    def versions(self, t: ir.Transition) -> Iterator[ir.Transition]:
        """A transition in every phase where it has a part."""
        ops: tuple[ir.Op, ...] = tuple(ir.Assume(op.condition) if isinstance(op, ir.Assert) else op for op in t.ops)
        plain: list[ir.Op] = [op for op in ops if not isinstance(op, ir.Fence)]
        stores = [op for op in ops if isinstance(op, ir.Store)]
        yield self.step(t, t.source, t.target, (*self.in_phase(0), *plain))
        if stores and not t.locked:
            yield self.step(t, t.source, t.target + self.copies, self.becoming_pivot(plain))
        if not stores and not t.locked and ir.Fence("mfence") not in ops:
            yield self.step(t, t.source + self.copies, t.target + self.copies, self.walking(plain))
            loads = [n for n, op in enumerate(t.ops) if isinstance(op, ir.Load)]
            for position in loads:
                yield self.step(t, t.source + self.copies, self.stopped, self.stopping(t.ops, position))
        if stores:
            yield self.step(t, t.source, t.target, self.completing(plain))

    def step(self, t: ir.Transition, source: int, target: int, ops: tuple[ir.Op, ...]) -> ir.Transition:
        return ir.Transition(source, target, ops, t.locked, t.span)

    def in_phase(self, phase: int) -> tuple[ir.Op, ...]:
        return ir.Load(self.phase, self.shared.phase), ir.Assume(Binary("==", Register(self.phase), Const(phase)))

    def becoming_pivot(self, ops: list[ir.Op]) -> tuple[ir.Op, ...]:
        """Fig. 11: the store is pending. It is made and taken back, for its value as the variable would hold it."""
        changed: list[ir.Op] = list(self.in_phase(0))
        for op in ops:
            if isinstance(op, ir.Store):
                changed += [
                    ir.Load(self.before, op.address),
                    op,
                    ir.Load(self.own, op.address),
                    ir.Store(op.address, Register(self.before)),
                    ir.Store(self.shared.delayed, _number(op.address)),
                    ir.Store(self.shared.own, Register(self.own)),
                    ir.Store(self.shared.phase, Const(1)),
                ]
            else:
                changed.append(op)
        return tuple(changed)

    def walking(self, ops: list[ir.Op]) -> tuple[ir.Op, ...]:
        """Fig. 12: reads see the pending store."""
        return (*self.in_phase(1), *self.marks(), *(more for op in ops for more in self.seen_by_pivot(op)))

    def stopping(self, ops: tuple[ir.Op, ...], position: int) -> tuple[ir.Op, ...]:
        """Fig. 13: the load at `position` reads memory. What the step asserts after it makes no difference."""
        changed: list[ir.Op] = [*self.in_phase(1), *self.marks()]
        for number, op in enumerate(ops):
            if isinstance(op, ir.Fence | ir.Assert):
                continue
            if number == position:
                assert isinstance(op, ir.Load)
                is_made = op.when if op.when is not None else Const(1)
                elsewhere = Binary("!=", _number(op.address), Register(self.delayed))
                changed += [ir.Assume(is_made), ir.Assume(elsewhere), ir.Assign(self.read, _number(op.address))]
            changed += self.seen_by_pivot(op)
        done = (ir.Store(self.shared.read, Register(self.read)), ir.Store(self.shared.phase, Const(2)))
        return (*changed, *done)

    def marks(self) -> tuple[ir.Op, ...]:
        return ir.Load(self.delayed, self.shared.delayed), ir.Load(self.own, self.shared.own)

    def seen_by_pivot(self, op: ir.Op) -> list[ir.Op]:
        if not isinstance(op, ir.Load):
            return [op]
        is_own = Binary("==", _number(op.address), Register(self.delayed))
        value: Expr = Register(self.own)
        if op.when is not None:
            is_own = Binary("&&", op.when, is_own)
        # The load may change a register that its own address reads: decide before.
        return [
            ir.Assign(self.after, is_own),
            op,
            ir.Assign(op.register, Conditional(Register(self.after), value, Register(op.register))),
        ]

    def completing(self, ops: list[ir.Op]) -> tuple[ir.Op, ...]:
        """Fig. 14: the step changes the variable that the pivot has read, in the end."""
        index = Binary("-", Register(self.read), Const(1))
        read = Address(0, self.shared.everything, index)
        return (
            *self.in_phase(2),
            ir.Load(self.read, self.shared.read),
            ir.Load(self.before, read),
            *ops,
            ir.Load(self.after, read),
            ir.Assume(Binary("!=", Register(self.before), Register(self.after))),
            ir.Assert(Const(0)),
        )


def _number(address: Address) -> Expr:
    """The number of the variable at the address, from 1."""
    known = address.variable
    return Const(known + 1) if known is not None else Binary("+", address.index, Const(address.base + 1))
