"""Steps with one event each: what RC11 sees of a program, as a program for searches of SC states.

The program is one that `axiomatic.synchronised` has given C's orders. To RC11 a step with two accesses is two events,
and others may come between. A locked load and store of one variable are one event: a read-modify-write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memfence.axiomatic.unrolling.merging import merge_alike
from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.program.expressions import FOREIGN, Address, Binary, Const, Expr, Register, fold, registers_of, walk
from memfence.program.facts.effects import op_expressions, register_written, registers_read
from memfence.program.facts.over import ends_the_run
from memfence.program.ir import (
    WIDEST,
    Assign,
    Assume,
    Domain,
    Fence,
    Load,
    Location,
    Lock,
    Op,
    Process,
    Program,
    RegisterVar,
    Rmw,
    Store,
    Transition,
    Unlock,
)
from memfence.program.orders import MemoryOrder

EVENTS = (Load, Store, Rmw, Fence)


MOST_ELEMENTS = 64
"""An access to more variables than these is not taken apart."""


def with_single_events(program: Program, *, single_variables: bool = False) -> Program:
    """`program` with at most one event in each step; NotUnrolled for what has no events.

    Registers keep their numbers. With `single_variables`, there is a step for each variable that an access may mean;
    where the index is out of bounds, no step is left. A compare-exchange becomes two steps: a read that sees another
    value than the expected one, and a read-modify-write. Every read-modify-write has a register for the old value. And
    locations from where the process does the same are one.
    """
    if program.error_locations is not None:
        raise NotUnrolled(Unfit.RUNS_GO_ON_AFTER_ERRORS)
    if program.any_number:
        raise NotUnrolled(Unfit.ANY_NUMBER)
    if program.split_accesses:
        raise NotUnrolled(Unfit.SPLIT_ACCESS, program.split_accesses[0].span)
    processes = tuple(_Cutting(process, single_variables).result() for process in program.processes)
    if single_variables:
        processes = tuple(merge_alike(process, ends_the_run(process)) for process in processes)
    return replace(program, processes=processes)


class _Cutting:
    """One process, step by step."""

    def __init__(self, process: Process, single_variables: bool) -> None:
        self.process = process
        self.single_variables = single_variables
        self.registers = list(process.registers)
        self.locations = list(process.locations)
        self.steps: list[Transition] = []
        self.lasting: set[int] = set()

    def result(self) -> Process:
        for step in self.process.transitions:
            _refuse(self.process, step)
            ops = tuple(_with_plain_address(op) for op in step.ops if not _does_nothing(op))
            if not self.single_variables:
                self._cut(step, ops)
                continue
            for decided in self._alternatives(ops):
                for chosen in self._addressed(decided, {}):
                    self._cut(step, chosen)
        return self._kept(
            replace(
                self.process,
                registers=tuple(self.registers),
                locations=tuple(self.locations),
                transitions=tuple(self.steps),
            )
        )

    def _alternatives(self, ops: Sequence[Op]) -> Iterator[tuple[Op, ...]]:
        """The ops with each compare-exchange decided, in every way."""
        for n, op in enumerate(ops):
            if isinstance(op, Rmw):
                for chosen in self._decided(op):
                    for rest in self._alternatives(ops[n + 1 :]):
                        yield (*ops[:n], *chosen, *rest)
                return
        yield tuple(ops)

    def _decided(self, op: Rmw) -> Iterator[tuple[Op, ...]]:
        old = self._new() if op.register is None else op.register
        if op.expected is None:
            yield (replace(op, register=old),)
            return
        wanted = self._new()
        keep = Assign(wanted, op.expected)
        yield (
            keep,
            Load(old, op.address, order=op.failure_order.of_read),
            Assume(Binary("!=", Register(old), Register(wanted))),
        )
        yield (
            keep,
            replace(op, register=old, kind="exchange", expected=None),
            Assume(Binary("==", Register(old), Register(wanted))),
        )

    def _addressed(self, ops: Sequence[Op], known: Mapping[Address, int]) -> Iterator[tuple[Op, ...]]:
        """The ops with each index decided, in every way. `known`: what was decided about registers as they are."""
        for n, op in enumerate(ops):
            if isinstance(op, Load | Store | Rmw) and op.address.variable is None:
                address = op.address
                if address.size > MOST_ELEMENTS:
                    raise NotUnrolled(Unfit.STORE_BEFORE_GUARD)
                for k in (known[address],) if address in known else range(address.size):
                    is_it = () if address in known else (Assume(Binary("==", address.index, Const(k))),)
                    one = replace(op, address=replace(address, index=Const(k)))
                    after = _unchanged({**known, address: k}, op)
                    for rest in self._addressed(ops[n + 1 :], after):
                        yield (*ops[:n], *is_it, one, *rest)
                return
            known = _unchanged(known, op)
        yield tuple(ops)

    def _new(self) -> int:
        self.registers.append(RegisterVar(f"event{len(self.registers)}", WIDEST, transient=True))
        return len(self.registers) - 1

    def _cut(self, step: Transition, ops: Sequence[Op]) -> None:
        parts = list(parts_of(ops, locked=step.locked))
        here = step.source
        for n, part in enumerate(parts):
            self.lasting |= self._crossing(part, [op for later in parts[n + 1 :] for op in later])
            target = step.target
            if n + 1 < len(parts):
                self.locations.append(Location(f"{self.locations[step.source].name}'", span=step.span))
                target = len(self.locations) - 1
            self.steps.append(replace(step, source=here, target=target, ops=tuple(part), cuts=()))
            here = target

    def _crossing(self, before: Sequence[Op], after: Sequence[Op]) -> set[int]:
        """Registers that last for one step only, and now for two."""
        written = {register_written(op) for op in before}
        read = {register for op in after for register in registers_read(op)}
        return {n for n, register in enumerate(self.registers) if register.transient and n in written and n in read}

    def _kept(self, process: Process) -> Process:
        """The process with lasting registers where they have to be; who ends a step of the text sets them to 0."""
        if not self.lasting:
            return process
        registers = tuple(
            replace(r, transient=False, init=(0,), domain=_with_zero(r.domain)) if n in self.lasting else r
            for n, r in enumerate(process.registers)
        )
        whole = len(self.process.locations)
        steps = tuple(self._reset(step) if step.target < whole else step for step in process.transitions)
        return replace(process, registers=registers, transitions=steps)

    def _reset(self, step: Transition) -> Transition:
        return replace(step, ops=(*step.ops, *(Assign(n, Const(0)) for n in sorted(self.lasting))))


def _with_plain_address(op: Op) -> Op:
    """The op without registers in its address that make no difference, `r ^ r`: they stand for dependencies."""
    if not isinstance(op, Load | Store | Rmw):
        return op
    return replace(op, address=replace(op.address, index=fold(_without_nothing(op.address.index))))


def _does_nothing(op: Op) -> bool:
    """A fence of C that orders nothing: `fix` has one wherever another may be written, and so has a lock that the
    thread alone uses, which is a fence on x86 only."""
    if not isinstance(op, Fence):
        return False
    return op.kind == "locked" or (op.kind == "thread_fence" and op.order is MemoryOrder.RELAXED)


def _without_nothing(expr: Expr) -> Expr:
    match expr:
        case Binary("^", Register(a), Register(b)) if a == b:
            return Const(0)
        case Binary("+", left, Binary("^", Register(a), Register(b))) if a == b:
            return _without_nothing(left)
    return expr


def _unchanged(known: Mapping[Address, int], op: Op) -> dict[Address, int]:
    """What is still known after the op."""
    written = register_written(op)
    return {address: k for address, k in known.items() if written not in registers_of(address.index)}


def _with_zero(domain: Domain) -> Domain:
    return replace(domain, lo=min(domain.lo, 0), hi=max(domain.hi, 0))


def _refuse(process: Process, step: Transition) -> None:
    if step.sync is not None:
        raise NotUnrolled(Unfit.CHANNEL, step.span)
    if process.locations[step.source].committed:
        raise NotUnrolled(Unfit.COMMITTED_LOCATION, step.span)
    for op in step.ops:
        if isinstance(op, Lock | Unlock):
            raise NotUnrolled(Unfit.BUS_LOCK, step.span)
        if isinstance(op, Load | Store) and (op.exclusive or op.when is not None):
            raise NotUnrolled(Unfit.STORE_BEFORE_GUARD, step.span)
        if isinstance(op, Store) and op.direct:
            raise NotUnrolled(Unfit.DIRECT_STORE, step.span)
        if any(isinstance(leaf, FOREIGN) for expr in op_expressions(op) for leaf in walk(expr)):
            raise NotUnrolled(Unfit.LOOKS_AT_OTHERS, step.span)


def parts_of(ops: Sequence[Op], *, locked: bool) -> Iterator[list[Op]]:
    """The ops, cut before every event but the first; a locked store belongs to the load of the same address."""
    part: list[Op] = []
    loaded: Load | None = None
    has_event = False
    for op in ops:
        is_pair = locked and isinstance(op, Store) and loaded is not None and loaded.address == op.address
        if isinstance(op, EVENTS) and has_event and not is_pair:
            yield part
            part = []
        has_event |= isinstance(op, EVENTS)
        loaded = op if isinstance(op, Load) else None if isinstance(op, Store | Rmw) else loaded
        part.append(op)
    yield part
