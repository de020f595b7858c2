"""Threads and locks of C in terms of memory orders, for models that know no locked steps.

Models with store buffers perform a library call in one locked step. To a model of events the same accesses are atomic
ones that synchronise: what starts, waits for or takes something acquires, what ends or gives something back releases.
Where one step changes several variables that others look at, events one by one would not be faithful: such programs are
refused, unless the front end says that the step could as well be several (`Transition.cuts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.program.expressions import Address, Binary, Conditional, Const, Expr, Register, registers_of, walk
from memfence.program.facts.effects import register_written, registers_read
from memfence.program.ir import Assume, Fence, Load, Location, Op, Process, Program, Rmw, Store, Transition
from memfence.program.orders import MemoryOrder

ACQUIRE, RELEASE, RELAXED = MemoryOrder.ACQUIRE, MemoryOrder.RELEASE, MemoryOrder.RELAXED
PLAIN = MemoryOrder.PLAIN

FREED = "freed("
"""How names of flags begin that say of a heap block that it was freed, or of a local variable that it is gone."""


def synchronised(program: Program) -> Program:
    """The same program with orders on all that its locked steps do; NotUnrolled where that is not all they mean."""
    if program.split_accesses:
        raise NotUnrolled(Unfit.SPLIT_ACCESS, program.split_accesses[0].span)
    return replace(program, processes=tuple(_process(program, process) for process in program.processes))


def _process(program: Program, process: Process) -> Process:
    locations = list(process.locations)
    steps: list[Transition] = []
    for step in process.transitions:
        steps += [_transition(program, part) for part in _parts(process, step, locations)]
    return replace(process, locations=tuple(locations), transitions=tuple(steps))


def _parts(process: Process, step: Transition, locations: list[Location]) -> Iterator[Transition]:
    """The step, cut where that makes no difference; there are new locations in between."""
    cuts = [cut for cut in step.cuts if _keeps_nothing(process, step.ops[:cut], step.ops[cut:])]
    here = step.source
    for start, end in pairwise((0, *cuts)):
        locations.append(Location(f"{locations[step.source].name}'", span=step.span))
        yield replace(step, source=here, target=len(locations) - 1, ops=step.ops[start:end], cuts=())
        here = len(locations) - 1
    yield replace(step, source=here, ops=step.ops[cuts[-1] if cuts else 0 :], cuts=())


def _keeps_nothing(process: Process, before: Sequence[Op], after: Sequence[Op]) -> bool:
    """Whether no register that lasts for one step only is set before and read after."""
    transient = {n for n, register in enumerate(process.registers) if register.transient}
    return transient.isdisjoint(r for op in after for r in registers_read(op) if r in _written(before))


def _written(ops: Sequence[Op]) -> set[int | None]:
    return {register_written(op) for op in ops}


def _transition(program: Program, step: Transition) -> Transition:
    step = replace(step, ops=tuple(_account(program, op) for op in _through_pointers(program, step.ops)))
    accesses = [op for op in step.ops if isinstance(op, Load | Store | Rmw)]
    if step.locked and not accesses:  # of a lock that is the thread's own
        return replace(step, ops=tuple(replace(op, kind="locked") if isinstance(op, Fence) else op for op in step.ops))
    if not step.locked:
        return step
    if all(_is_bookkeeping(program, op.address) for op in accesses):
        return replace(step, ops=tuple(_ordered(op, ACQUIRE, RELEASE) for op in step.ops))
    if any(isinstance(op, Rmw) for op in accesses) or len({op.address for op in accesses}) > 1:
        raise NotUnrolled(Unfit.LOCKED_STEP, step.span)
    if all(op.order is not PLAIN for op in accesses):
        return step
    return replace(step, ops=_library_call(step))


def _through_pointers(program: Program, ops: Sequence[Op]) -> Iterator[Op]:
    """The ops; an access behind a comparison with an address depends on what was compared, as a pointer.

    The program reads `*p` case by case: where `p` is this address, then the variable there. To a processor that is no
    branch but an address. Where it was a branch of the text, one dependency too many keeps us from a verdict at most:
    what holds must hold without any.
    """
    pointers: set[int] = set()
    for op in ops:
        if isinstance(op, Assume) and _names_an_address(program, op.condition):
            pointers |= registers_of(op.condition)
        elif isinstance(op, Load | Store | Rmw) and pointers:
            op = replace(op, address=_depending(op.address, pointers))
        yield op


def _names_an_address(program: Program, condition: Expr) -> bool:
    constants = (node.value for node in walk(condition) if isinstance(node, Const))
    return any(program.value_names.get(value, "").startswith("&") for value in constants)


def _depending(address: Address, registers: Iterable[int]) -> Address:
    """The same address, computed with the help of the registers."""
    index = address.index
    for register in sorted(registers):
        index = Binary("+", index, Binary("^", Register(register), Register(register)))
    return replace(address, index=index)


def _is_bookkeeping(program: Program, address: Address) -> bool:
    return all(program.variables[number].is_bookkeeping for number in address.variables)


def _account(program: Program, op: Op) -> Op:
    """Which memory is free, and which threads have ended: stores that no processor sees.

    Nobody races with them, but who frees an object races with all that use it: every use looks at its flag.
    """
    if isinstance(op, Store) and op.direct:
        op = replace(op, direct=False)
    if not isinstance(op, Load | Store) or op.order is not PLAIN or not _is_bookkeeping(program, op.address):
        return op
    if all(program.variables[n].name.startswith(FREED) for n in op.address.variables):
        return op
    return replace(op, order=RELAXED)


def _ordered(op: Op, load: MemoryOrder, store: MemoryOrder) -> Op:
    match op:
        case Load():
            return replace(op, order=load)
        case Store():
            return replace(op, order=store)
    return op


def _library_call(step: Transition) -> tuple[Op, ...]:
    """One variable: taken where the step waits for what it reads, tried where it compares, else given back.

    The step may also have conditions of the branch that leads to it: those are about other registers.
    """
    ops = step.ops
    stores = [n for n, op in enumerate(ops) if isinstance(op, Store)]
    loads = [op for op in ops if isinstance(op, Load)]
    if len(stores) > 1 or len(loads) > 1:
        raise NotUnrolled(Unfit.LOCKED_STEP, step.span)
    if any(isinstance(op, Assume) and registers_of(op.condition) & {load.register for load in loads} for op in ops):
        return tuple(_ordered(op, ACQUIRE, RELAXED) for op in ops)
    tried = _tried(ops[stores[0]], loads[0]) if stores and loads else None
    if tried is not None:
        return tuple(tried if op is loads[0] else op for n, op in enumerate(ops) if n != stores[0])
    if loads and not stores:
        return tuple(_ordered(op, ACQUIRE, RELEASE) for op in ops)
    return tuple(_ordered(op, RELAXED, RELEASE) for op in ops)


def _tried(store: Op, load: Load) -> Rmw | None:
    """A lock that is taken if it is free: a compare-exchange, which acquires where it succeeds.

    It comes in the place of the load. What the step asserts in between, that the lock was not destroyed, is about the
    old value.
    """
    assert isinstance(store, Store)
    match store.value:
        case Conditional(Binary("==", Register(found), Const() as expected), Const() as taken, Register(kept)):
            if found == kept == load.register:
                return Rmw(load.register, load.address, "compare_exchange", taken, expected, ACQUIRE, RELAXED)
    return None
