"""DVE transitions as transitions of the IR: loads where the guard needs them, assumes, then the effects in order.

A guard `a and b` becomes two assumes, so that what `b` reads is read only where `a` holds and no work is done for a
step that cannot be taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memfence.codes import Code
from memfence.frontends.dve import syntax
from memfence.frontends.dve.accesses import Accesses
from memfence.frontends.dve.names import BYTE, INT, Constant, LocalPlace, Names, SharedPlace
from memfence.program import expressions
from memfence.program.builder import ProcessBuilder
from memfence.program.ir import Domain, Op, Store, Sync
from memfence.records import Record


class Queue(Record):
    """The memory of a buffered channel: its `length`, and `capacity` slots from `fields[i]` for the i-th value."""

    length: int
    fields: tuple[int, ...]
    capacity: int


class Lowered(Record):
    """The ops of a step, and its side of a rendezvous."""

    ops: tuple[Op, ...]
    sync: Sync | None


class StepLowering(Accesses):
    """Lowers the steps of one process."""

    def __init__(self, names: Names, process: int, builder: ProcessBuilder, queues: dict[str, Queue]) -> None:
        super().__init__(names, process, builder)
        self.queues = queues

    def lower(self, step: syntax.Step, source: int, target: int) -> Lowered:
        """The step from `source` to `target`. Effects see the process in its new state already, as in DiVinE 2."""
        self.begin(source)
        if step.guard is not None:
            for condition, must_be_positive in _conjuncts(step.guard):
                self.assume(self.truth(condition, None) if must_be_positive else self.value(condition))
        sync = self.synchronise(step) if step.sync is not None else None
        self.location = target
        writes = [assignment.target for assignment in step.effects]
        for position, assignment in enumerate(step.effects):
            self.assign(assignment, self.is_superseded(assignment.target, writes[position + 1 :]))
        return Lowered(tuple(self.ops), sync)

    def is_superseded(self, target: syntax.Variable, later: Sequence[syntax.Variable]) -> bool:
        """Whether the step surely writes the same global variable again: nobody else sees the first value then."""
        place = self.fixed_variable(target)
        return place is not None and any(self.fixed_variable(other) == place for other in later)

    def fixed_variable(self, target: syntax.Variable) -> int | None:
        own = self.names.locals[self.process] if self.process is not None else {}
        symbol = None if target.name.text in own else self.names.globals.get(target.name.text)
        if isinstance(symbol, SharedPlace) and isinstance(target.index, syntax.Number | None):
            return symbol.base + (0 if target.index is None else target.index.value)
        return None

    def assign(self, assignment: syntax.Assignment, superseded: bool) -> None:
        target = assignment.target
        symbol = self.symbol(target)
        known = len(self.ops)
        value = self.value(assignment.value)
        match symbol:
            case None:
                return
            case Constant():
                self.report_constant(target)
            case SharedPlace():
                self.check_range(assignment, value, symbol.domain)
                self.write_shared(self.address(symbol, target, None), value, symbol.domain, superseded)
            case LocalPlace():
                self.check_range(assignment, value, symbol.domain)
                index = self.index(symbol, target, None)
                self.write_local(symbol, index, value, is_new=len(self.ops) > known)

    def report_constant(self, target: syntax.Variable) -> None:
        what = f"`{target.name.text}` is a constant and cannot be assigned to"
        self.names.report(Code.TYPE_MISMATCH, target.span, what, "constant", "declare it without `const`")

    def check_range(self, assignment: syntax.Assignment, value: expressions.Expr, domain: Domain) -> None:
        if isinstance(value, expressions.Const) and not domain.lo <= value.value <= domain.hi:
            allowed = f"{domain.lo}..{domain.hi}"
            what = f"value {value.value} of `{assignment.target.name.text}` lies outside its range {allowed}"
            self.names.report(Code.OUT_OF_RANGE, assignment.value.span, what, f"not in {allowed}")

    def synchronise(self, step: syntax.Step) -> Sync | None:
        sync = step.sync
        assert sync is not None
        channel = self.names.channel(sync.channel)
        if channel is None:
            return None
        queue = self.queues.get(channel.name.text)
        if channel.types is not None and len(sync.values) != len(channel.types):
            what = f"channel `{channel.name.text}` carries {len(channel.types)} values, not {len(sync.values)}"
            self.names.report(Code.ARGUMENT_COUNT, sync.span, what, f"{len(sync.values)} here")
            return None
        if sync.sends:
            values = self.sent_values(sync, channel)
            if queue is not None:
                self.put(queue, values)
                return None
            return self.at_rendezvous(Sync(channel.name.text, True, values, (), len(self.ops)))
        targets = [target for value in sync.values if (target := self.received_place(value)) is not None]
        if len(targets) < len(sync.values):
            return None
        if queue is not None:
            self.get(queue, targets, step)
            return None
        return self.receive(channel, targets, step)

    def at_rendezvous(self, sync: Sync) -> Sync:
        """Here the partner may change memory: nothing that was read before is known any more."""
        self.loaded.clear()
        self.bounded.clear()
        return sync

    def sent_values(self, sync: syntax.Synchronisation, channel: syntax.Channel) -> tuple[expressions.Expr, ...]:
        values = tuple(self.value(value) for value in sync.values)
        if channel.types is None:
            return values
        return tuple(_cast(value, kind == "byte") for value, kind in zip(values, channel.types, strict=True))

    def received_place(
        self, value: syntax.Expression
    ) -> tuple[syntax.Variable, SharedPlace | LocalPlace, expressions.Expr] | None:
        """The variable to receive into, and its index, evaluated in the state before the step."""
        if not isinstance(value, syntax.Variable) or value.owner is not None:
            what = f"cannot receive into `{value.span.text}`"
            hint = "receive into an own or global variable, and compare it in the guard of a later transition"
            self.names.report(Code.TYPE_MISMATCH, value.span, what, "not a variable", hint)
            return None
        symbol = self.symbol(value)
        if isinstance(symbol, Constant):
            self.report_constant(value)
            return None
        if symbol is None:
            return None
        index = self.index(symbol, value, None)
        if not isinstance(index, expressions.Const):
            index = self.checked_index(index, symbol.count, None)
        return value, symbol, index

    def receive(
        self,
        channel: syntax.Channel,
        targets: list[tuple[syntax.Variable, SharedPlace | LocalPlace, expressions.Expr]],
        step: syntax.Step,
    ) -> Sync:
        registers = []
        later: list[tuple[syntax.Variable, SharedPlace | LocalPlace, expressions.Expr, int]] = []
        for variable, place, index in targets:
            if isinstance(place, LocalPlace) and isinstance(index, expressions.Const):
                registers.append(place.base + index.value)
            else:
                registers.append(self.fresh(INT))
                later.append((variable, place, index, registers[-1]))
        sync = self.at_rendezvous(Sync(channel.name.text, False, (), tuple(registers), len(self.ops)))
        for variable, place, index, register in later:
            self.write_received(variable, place, index, expressions.Register(register), step)
        return sync

    def write_received(
        self,
        variable: syntax.Variable,
        place: SharedPlace | LocalPlace,
        index: expressions.Expr,
        value: expressions.Expr,
        step: syntax.Step,
    ) -> None:
        if isinstance(place, LocalPlace):
            self.write_local(place, index, value)
            return
        fixed = isinstance(index, expressions.Const)
        address = (
            expressions.variable_address(place.base + index.value) if isinstance(index, expressions.Const) else None
        )
        superseded = fixed and self.is_superseded(variable, [effect.target for effect in step.effects])
        self.write_shared(
            address or expressions.Address(place.base, place.count, index), value, place.domain, superseded
        )

    def put(self, queue: Queue, values: tuple[expressions.Expr, ...]) -> None:
        """Append to the queue, if it is not full."""
        length = self.read_shared(expressions.variable_address(queue.length), None)
        self.assume(expressions.Binary("<", length, expressions.Const(queue.capacity)))
        for base, value in zip(queue.fields, values, strict=True):
            self.ops.append(Store(expressions.Address(base, queue.capacity, length), value, direct=True))
        self.set_length(queue, expressions.Binary("+", length, expressions.Const(1)))

    def get(
        self,
        queue: Queue,
        targets: list[tuple[syntax.Variable, SharedPlace | LocalPlace, expressions.Expr]],
        step: syntax.Step,
    ) -> None:
        """Take the oldest message, if there is one, and move the others up: free slots are always 0."""
        length = self.read_shared(expressions.variable_address(queue.length), None)
        self.assume(expressions.Binary(">", length, expressions.Const(0)))
        received = [self.read_shared(expressions.variable_address(base), None) for base in queue.fields]
        for base in queue.fields:
            for slot in range(1, queue.capacity):
                moved = self.read_shared(expressions.variable_address(base + slot), None)
                self.ops.append(Store(expressions.variable_address(base + slot - 1), moved, direct=True))
            self.ops.append(
                Store(expressions.variable_address(base + queue.capacity - 1), expressions.Const(0), direct=True)
            )
        self.set_length(queue, expressions.Binary("-", length, expressions.Const(1)))
        for (variable, place, index), value in zip(targets, received, strict=True):
            self.write_received(variable, place, index, value, step)

    def set_length(self, queue: Queue, length: expressions.Expr) -> None:
        """The last store of a step that changes the queue: what was read before is not what is there now."""
        self.ops.append(Store(expressions.variable_address(queue.length), length, direct=True))
        self.loaded.clear()


def _conjuncts(guard: syntax.Expression, must_be_positive: bool = False) -> Iterator[tuple[syntax.Expression, bool]]:
    """The operands of the outermost `and`s, and whether each is a right operand."""
    if isinstance(guard, syntax.Infix) and guard.operator == "and":
        yield from _conjuncts(guard.left)
        yield from _conjuncts(guard.right, True)
    else:
        yield guard, must_be_positive


def _cast(value: expressions.Expr, to_byte: bool) -> expressions.Expr:
    """`value` as a typed channel passes it on."""
    domain = BYTE if to_byte else INT
    if isinstance(value, expressions.Const) and domain.lo <= value.value <= domain.hi:
        return value
    if to_byte:
        return expressions.fold(expressions.Binary("&", value, expressions.Const(255)))
    shifted = expressions.Binary(
        "&", expressions.Binary("+", value, expressions.Const(2**15)), expressions.Const(2**16 - 1)
    )
    return expressions.fold(expressions.Binary("-", shifted, expressions.Const(2**15)))
