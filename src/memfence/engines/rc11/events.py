"""The event of a step: what it does to which variable, with which of C's orders."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from memfence.axiomatic.code import Barrier
from memfence.axiomatic.readings.c11 import order_of_fence
from memfence.program.ir import Fence, Load, Op, Program, Rmw, Store, Transition
from memfence.program.orders import MemoryOrder
from memfence.records import Record

PLAIN, SEQ_CST = MemoryOrder.PLAIN, MemoryOrder.SEQ_CST


class Kind(Enum):
    READ = auto()
    WRITE = auto()
    UPDATE = auto()
    """A read-modify-write that writes."""
    FENCE = auto()


class Event(Record):
    """`first`, `last`: the ops of the step with which it begins and has happened. `order` of its read part, or of the
    fence; `written` of its write part. `old`: the register that gets the value read. `variable`: -1 for fences."""

    kind: Kind
    first: int
    last: int
    variable: int = -1
    order: MemoryOrder = PLAIN
    written: MemoryOrder = PLAIN
    old: int = -1

    @property
    def reads(self) -> bool:
        return self.kind in (Kind.READ, Kind.UPDATE)

    @property
    def writes(self) -> bool:
        return self.kind in (Kind.WRITE, Kind.UPDATE)

    @property
    def is_plain(self) -> bool:
        return self.kind is not Kind.FENCE and self.order is PLAIN and self.written is PLAIN

    @property
    def is_sc(self) -> bool:
        """Whether all of it is."""
        return (not self.reads or self.order is SEQ_CST) and (not self.writes or self.written is SEQ_CST)


def event_of(step: Transition) -> Event | None:
    """The event of a step that has no more than one, at a single variable."""
    found = [(n, op) for n, op in enumerate(step.ops) if isinstance(op, Load | Store | Rmw | Fence)]
    if not found:
        return None
    (first, op), last = found[0], found[-1][0]
    if isinstance(op, Fence):
        order = order_of_fence(Barrier(op.kind, op.order))
        return None if order in (PLAIN, MemoryOrder.RELAXED) else Event(Kind.FENCE, first, first, order=order)
    variable = op.address.variable
    assert variable is not None
    match op:
        case Store(order=order):
            return Event(Kind.WRITE, first, last, variable, written=order)
        case Rmw(register, order=order):
            assert register is not None
            return Event(Kind.UPDATE, first, last, variable, order.of_read, order.of_write, register)
        case Load(register, order=order):
            store = found[-1][1]
            if isinstance(store, Store):
                return Event(Kind.UPDATE, first, last, variable, order.of_read, store.order.of_write, register)
            return Event(Kind.READ, first, last, variable, order, old=register)


def all_events(program: Program) -> Iterator[tuple[int, int, Event]]:
    """Process, number of the step, and event."""
    for p, process in enumerate(program.processes):
        for n, step in enumerate(process.transitions):
            event = event_of(step)
            if event is not None:
                yield p, n, event


def written_op(step: Transition, event: Event) -> Op:
    """The op that writes."""
    return step.ops[event.last]
