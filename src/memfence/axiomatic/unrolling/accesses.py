"""Loads, stores and read-modify-writes as items."""

from __future__ import annotations

from dataclasses import replace

from memfence.axiomatic.code import Branch, Given, Read, Write
from memfence.axiomatic.unrolling.emission import truth, without_slots
from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.axiomatic.unrolling.state import Reserved, State, Way
from memfence.axiomatic.unrolling.values import Values
from memfence.program.expressions import (
    FALSE,
    TRUE,
    Address,
    Binary,
    Conditional,
    Const,
    Expr,
    Register,
    disjunction,
    negate,
    registers_of,
)
from memfence.program.facts.effects import value_written
from memfence.program.facts.interval_arithmetic import ZERO, hull
from memfence.program.ir import Load, Rmw, Store
from memfence.program.orders import MemoryOrder


class Accesses(Values):
    """The accesses of one process. `step` is the number of the step under way.

    Writes are held back in the state: whoever knows that the step happens lets them out.
    """

    step = -1

    def load(self, state: State, way: Way, op: Load) -> State:
        self._nothing_held(state, way)
        state, extra = self._when(state, way, op.when)
        state, address = self.address(state, way, op.address, extra)
        values = self.range_at(address)
        slot = self.out.slot(values if op.when is None else hull(values, ZERO))
        guard = self.out.both(state.guard, extra)
        read = Read(slot, address, guard, op.order, op.exclusive, self.step, way.locked, self.origin(way))
        position = self.out.emit(read)
        if op.exclusive:
            state = replace(state, reserved=(Reserved(TRUE, position, address),))
        if extra == TRUE:
            state = replace(state, loaded=(*state.loaded, (address, position)))
        return self.set(state, way, op.register, Register(slot))

    def store(self, state: State, way: Way, op: Store) -> State:
        if op.direct:
            raise NotUnrolled(Unfit.DIRECT_STORE, way.transition.span)
        state, extra = self._when(state, way, op.when)
        state, address = self.address(state, way, op.address, extra)
        state, value = self.stored(state, way, address, op.value, extra)
        write = Write(address, value, extra, op.order, None, op.exclusive, self.step, way.locked, self.origin(way))
        if op.exclusive:
            return self._store_exclusively(state, way, op, write)
        return self._hold(state, write)

    def _when(self, state: State, way: Way, when: Expr | None) -> tuple[State, Expr]:
        """The condition of an access; control depends on it."""
        if when is None:
            return state, TRUE
        state = self.evaluable(state, way, when)
        test = self.condition(state, way, when)
        if registers_of(test):
            self.out.emit(Branch(test, state.guard, self.origin(way)))
        return state, test

    def _nothing_held(self, state: State, way: Way) -> None:
        """What is read may be what the step itself writes, and whether that happens is not known yet."""
        if state.held:
            raise NotUnrolled(Unfit.STORE_BEFORE_GUARD, way.transition.span)

    def _hold(self, state: State, write: Write) -> State:
        """With the load of the same locked step and address it makes a read-modify-write."""
        position = dict(state.loaded).get(write.address) if write.locked else None
        loaded = tuple(pair for pair in state.loaded if pair[0] != write.address)
        return replace(state, held=(*state.held, replace(write, reads_by=position)), loaded=loaded)

    def _store_exclusively(self, state: State, way: Way, op: Store, write: Write) -> State:
        """It may succeed where an exclusive load of the same address came before; nothing decides whether it does."""
        chosen = self.out.choose((0, 1), state.guard)
        done: list[Expr] = []
        for load in state.reserved:
            same = truth(_same_variable(load.address, write.address))
            guard = self.out.both(write.guard, load.guard, same, Binary("==", chosen, Const(0)))
            if guard != FALSE:
                done.append(guard)
                state = replace(state, held=(*state.held, replace(write, guard=guard, reads_by=load.position)))
        state = replace(state, reserved=())
        if op.status is None:
            return state
        return self.set(state, way, op.status, without_slots(negate(disjunction(*done))))

    def modify(self, state: State, way: Way, op: Rmw) -> State:
        self._nothing_held(state, way)
        state, address = self.address(state, way, op.address)
        if op.expected is not None:
            state = self.evaluable(state, way, op.expected)
        state, old, position, found = self._read_to_modify(state, way, op, address)
        if found != TRUE:
            self.out.emit(Branch(found, state.guard, self.origin(way), of_pair=True))
        with_old = replace(state, registers=(*state.registers, old))
        with_old, value = self.stored(with_old, way, address, value_written(op, Register(len(state.registers))), found)
        write = Write(address, value, found, op.order, position, False, self.step, True, self.origin(way))
        state = replace(with_old, registers=state.registers, held=(*state.held, write))
        return state if op.register is None else self.set(state, way, op.register, old)

    def _read_to_modify(self, state: State, way: Way, op: Rmw, address: Address) -> tuple[State, Expr, int, Expr]:
        """The state, the old value, the position of its read, and the condition for writing."""
        slot = self.out.slot(self.range_at(address))
        read = Read(slot, address, state.guard, op.order, False, self.step, True, self.origin(way))
        if op.expected is None:
            return state, Register(slot), self.out.emit(read), TRUE
        expected = self.value(state, way, op.expected)
        if _reads_like(op.order) is not _reads_like(op.failure_order):
            return self._read_by_outcome(state, way, op, read, expected)
        return state, Register(slot), self.out.emit(read), Binary("==", Register(slot), expected)

    def _read_by_outcome(
        self, state: State, way: Way, op: Rmw, read: Read, expected: Expr
    ) -> tuple[State, Expr, int, Expr]:
        """A compare-exchange whose read has another order where it fails: two reads, of which one happens.

        Which one is chosen before the value is known, and there are only executions where the choice was right.
        """
        guess = len(self.out.items)
        chosen = self.out.choose((0, 1), state.guard)
        succeeds, fails = self.out.fork(state.guard, [Binary("==", chosen, Const(n)) for n in (1, 0)])
        position = self.out.emit(replace(read, guard=succeeds))
        other = self.out.slot(self.out.ranges[read.slot])
        failed = replace(read, slot=other, guard=fails, order=op.failure_order, attempted=op.order)
        second = self.out.emit(failed)
        old = self.out.join([(succeeds, Register(read.slot)), (fails, Register(other))])
        equal = Binary("==", old, expected)
        foreseen = Conditional(Binary("==", chosen, Const(1)), equal, negate(equal))
        self.out.emit(Given(foreseen, guess, position, second, expected, state.guard, self.origin(way)))
        return state, old, position, equal


def _same_variable(a: Address, b: Address) -> Expr:
    if a.variable is not None and b.variable is not None:
        return Const(int(a.variable == b.variable))
    first, second = (without_slots(Binary("+", Const(x.base), x.index)) for x in (a, b))
    return Binary("==", first, second)


def _reads_like(order: MemoryOrder) -> MemoryOrder:
    """The order of the read in a read-modify-write of this order."""
    if order is MemoryOrder.SEQ_CST:
        return order
    return MemoryOrder.ACQUIRE if order.acquires else MemoryOrder.RELAXED
