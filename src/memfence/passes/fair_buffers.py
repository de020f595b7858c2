"""Infinite runs under TSO and PSO with buffers of any length, as runs of a program with finitely many states under SC.

As `passes.partial_coherence`, with what infinite runs need (docs/theory/unbounded-liveness.md):

* what commits is a process for each buffered value, so that fairness can speak about it: whoever can commit for ever
  does so again and again;
* `full` is 2 from a store to the next commit of its variable, 1 afterwards: an older value may commit for ever only
  where stores come again and again;
* under TSO, which newest value was stored before which: they commit in this order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memfence.models.fairness import BufferDrains, Condition, ProcessRuns, Recurring
from memfence.passes.partial_coherence import BIT, Buffers
from memfence.program import ir
from memfence.program.expressions import (
    TRUE,
    Address,
    Binary,
    BufferEmpty,
    Const,
    Expr,
    Register,
    Shared,
    Unary,
    conjunction,
    rewrite,
    variable_address,
)
from memfence.records import Record


class FairProgram(Record):
    """`program` has, under SC, all infinite runs of the given one; those that are fair meet `conditions`, too.

    `atoms` are what was asked about, in its terms.
    """

    program: ir.Program
    atoms: tuple[Expr, ...]
    conditions: tuple[Condition, ...]


def with_fair_buffers(
    program: ir.Program,
    atoms: Sequence[Expr],
    conditions: Sequence[Condition],
    *,
    keeps_order: bool,
    most_conditions: int,
) -> FairProgram:
    """The program, for hardware, with its buffers in memory; `keeps_order`: stores of a process commit in their order.

    With more conditions than `most_conditions`, what commits to one variable is one process: fewer, and weaker. The
    program must be one that buffers can forget.
    """
    buffers: list[FairBuffers] = []
    for number, _ in enumerate(program.processes):
        first = buffers[-1].end if buffers else len(program.variables)
        buffers.append(FairBuffers(program, number, first, keeps_order))
    kept = [_in_memory(condition, buffers) for condition in conditions if not isinstance(condition, BufferDrains)]
    drained = [Recurring(made.has_settled(x)) for made in buffers for x in made.stored]
    for finely in (True, False):
        memory = [one for made in buffers for one in made.committing(finely)]
        running = [ProcessRuns(len(buffers) + number) for number, _ in enumerate(memory)]
        if len(kept) + len(drained) + len(running) <= most_conditions:
            break
    errors = program.error_locations
    larger = replace(
        program,
        variables=(*program.variables, *(one for made in buffers for one in made.variables())),
        processes=(*(made.process() for made in buffers), *memory),
        properties=(),
        error_locations=None if errors is None else (*errors, *(0 for _ in memory)),
    )
    return FairProgram(larger, tuple(_seen(atom, buffers) for atom in atoms), (*kept, *drained, *running))


def _in_memory(condition: Condition, buffers: Sequence[FairBuffers]) -> Condition:
    return Recurring(_seen(condition.condition, buffers)) if isinstance(condition, Recurring) else condition


def _seen(expr: Expr, buffers: Sequence[FairBuffers]) -> Expr:
    """The expression, with buffers as they are in memory."""
    return rewrite(expr, lambda leaf: buffers[leaf.process].is_empty() if isinstance(leaf, BufferEmpty) else leaf)


class FairBuffers(Buffers):
    """As `Buffers`, with places only for values that the process stores; those of other variables have one value."""

    def __init__(self, program: ir.Program, number: int, first: int, keeps_order: bool) -> None:
        super().__init__(program, number)
        self.keeps_order = keeps_order
        self.written = {x: values for x in range(self.width) if (values := values_stored(program, self.owner, x))}
        self.stored = tuple(self.written)
        self.kept = sorted({value for values in self.written.values() for value in values})
        self.first = first
        self.end = first + self.width * (2 + len(self.kept) + (self.width if keeps_order else 0))

    def variables(self) -> Iterator[ir.SharedVar]:
        name, numbered = self.owner.name, list(enumerate(self.program.variables))

        def places(what: str, number: int, used: ir.Domain, is_used: bool, after: object = "") -> ir.SharedVar:
            text = f"({name} {what} {self.program.variables[number].name}{after})"
            return ir.SharedVar(text, used if is_used else ir.Domain(used.lo, used.lo), (used.lo,))

        yield from (places("full", x, ir.Domain(0, 2), x in self.written) for x, _ in numbered)
        yield from (places("newest", x, v.domain, x in self.written) for x, v in numbered)
        for value in self.kept:
            yield from (places("older", x, BIT, value in self.written.get(x, ()), f" {value}") for x, _ in numbered)
        for later in range(self.width if self.keeps_order else 0):
            for earlier, _ in numbered:
                is_used = later != earlier and later in self.written and earlier in self.written
                yield places("before", later, BIT, is_used, f" {earlier}")

    def older(self, address: Address, value: int) -> Address:
        return replace(address, base=self.first + self.width * (2 + self.kept.index(value)) + address.base)

    def is_full(self, variable: int) -> Expr:
        return Shared(self.full(variable_address(variable)))

    def has_settled(self, variable: int) -> Expr:
        """Whether nothing is pending, or something was stored since the last commit."""
        return Binary("!=", self.is_full(variable), Const(1))

    def is_empty(self) -> Expr:
        """Whether nothing of the process is pending."""
        return conjunction(*(Binary("==", self.is_full(x), Const(0)) for x in self.stored)) if self.stored else TRUE

    # The process

    def process(self) -> ir.Process:
        made = super().process()
        kept = len(self.owner.registers)
        added = tuple(replace(register, domain=self.wide) for register in made.registers[kept:])
        return replace(made, registers=(*made.registers[:kept], *added))

    @property
    def wide(self) -> ir.Domain:
        """What scratch registers hold: any value, and `full`."""
        return ir.Domain(min(0, self.values[0]), max(2, self.values[-1]))

    def op(self, op: ir.Op) -> Iterator[ir.Op]:
        if isinstance(op, ir.Store) and op.direct:
            yield op  # it reaches memory at once, whatever is pending
        else:
            yield from super().op(op)

    def store(self, address: Address, value: Expr) -> Iterator[ir.Op]:
        full, newest, was = (Register(self.scratch + n) for n in range(3))
        yield ir.Load(full.index, self.full(address))
        yield ir.Load(newest.index, self.newest(address))
        for one in sorted({one for x in address.variables for one in self.written.get(x, ())}):
            yield ir.Load(was.index, self.older(address, one))
            is_behind = Binary("&&", full, Binary("==", newest, Const(one)))
            yield ir.Store(self.older(address, one), Binary("||", was, is_behind))
        yield ir.Store(self.newest(address), value)
        if self.keeps_order:
            yield from self.comes_last(address)
        yield ir.Store(self.full(address), Const(2))

    def comes_last(self, address: Address) -> Iterator[ir.Op]:
        """What is pending was stored before, and this before nothing."""
        full = Register(self.scratch)
        stored = Binary("+", Const(address.base), address.index) if address.variable is None else Const(address.base)
        place = stored if address.variable is None else Const(address.variable)
        for other in self.stored:
            if place == Const(other):
                continue
            yield ir.Load(full.index, self.full(variable_address(other)))
            is_other = Binary("!=", place, Const(other))
            yield ir.Store(self.before(Const(other), place), Binary("&&", full, is_other))
            yield ir.Store(self.before(place, Const(other)), Const(0))

    def before(self, earlier: Expr, later: Expr) -> Address:
        """Where it is kept whether the newest value of one variable was stored before that of the other one."""
        base = self.first + self.width * (2 + len(self.kept))
        if isinstance(earlier, Const) and isinstance(later, Const):
            return variable_address(base + later.value * self.width + earlier.value)
        index = Binary("+", Binary("*", later, Const(self.width)), earlier)
        return Address(base, self.width * self.width, index)

    # What commits

    def committing(self, finely: bool) -> Iterator[ir.Process]:
        """The processes that commit: one for each variable, and `finely` for each of its values that may be pending."""
        register = ir.RegisterVar("(value)", self.wide, transient=True)
        for variable in self.stored:
            address = variable_address(variable)
            ways = [list(self.commits_of_older(address, value)) for value in self.written[variable]]
            ways.append([tuple(self.commit_of_newest(address, self.program.variables[variable].domain))])
            for number, steps in enumerate(ways if finely else [[step for way in ways for step in way]]):
                name = f"(memory {self.owner.name} {self.program.variables[variable].name} {number})"
                moves = tuple(ir.Transition(0, 0, ops) for ops in steps)
                yield ir.Process(name, name, (register,), (ir.Location("committing"),), 0, moves)

    def commits_of_older(self, address: Address, value: int) -> Iterator[tuple[ir.Op, ...]]:
        """It stays behind, since it may be pending more than once, or it does not."""
        stays, leaves = (
            (*ops, ir.Store(self.full(address), Const(1))) for ops in super().commits_of_older(address, value)
        )
        yield from (stays, leaves)

    def commit_of_newest(self, address: Address, domain: ir.Domain) -> Iterator[ir.Op]:
        others = [other for other in self.stored if other != address.base] if self.keeps_order else []
        absent = [self.older(address, value) for value in self.written[address.base]]
        absent += [self.before(Const(other), Const(address.base)) for other in others]
        yield from (ir.Load(0, self.full(address)), ir.Assume(Register(0)))
        for place in absent:
            yield from (ir.Load(0, place), ir.Assume(Unary("!", Register(0))))
        yield from (ir.Load(0, self.newest(address)), ir.Store(address, Register(0)))
        yield from (ir.Store(self.full(address), Const(0)), ir.Store(self.newest(address), Const(domain.lo)))
        yield from (ir.Store(self.before(Const(address.base), Const(other)), Const(0)) for other in others)


def values_stored(program: ir.Program, process: ir.Process, variable: int) -> Sequence[int]:
    """The values that may be pending there in a buffer of the process."""
    ops = [op for t in process.transitions if not t.locked for op in t.ops]
    stores = [op for op in ops if isinstance(op, ir.Store) and not op.direct and variable in op.address.variables]
    domain = program.variables[variable].domain
    found = {op.value.value for op in stores if isinstance(op.value, Const) and domain.holds(op.value.value)}
    is_known = all(isinstance(op.value, Const) and op.value.value in found for op in stores)
    return sorted(found) if is_known else range(domain.lo, domain.hi + 1)
