"""Every way to make a program weaker by one step: an order, a fence that goes, a locked operation in two halves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from memfence.frontends.c.editable import may_be_edited
from memfence.program.expressions import Binary, Const, Register
from memfence.program.facts.effects import value_written
from memfence.program.ir import (
    Assign,
    Assume,
    Domain,
    Fence,
    Load,
    Location,
    Op,
    Process,
    Program,
    RegisterVar,
    Rmw,
    Store,
    Transition,
)
from memfence.program.orders import MemoryOrder
from memfence.records import Record
from memfence.source import NOWHERE, Span
from memfence.synthesis.orders.needed import weakened, weaker_orders
from memfence.synthesis.orders.places import OpNumber
from memfence.synthesis.orders.questions import shared_places
from memfence.synthesis.orders.strengths import strengths_of

MutantKind = Literal["order", "failure", "fence", "split"]
Ops = frozenset[OpNumber]


class Mutant(Record):
    """One change at `span`: `was` becomes `becomes`. `order`: the new one, of an order. `ops`: of each question's
    program, what changes; nothing where it has no such place. `of`: what stands there."""

    kind: MutantKind
    span: Span
    of: str
    was: str
    becomes: str
    ops: tuple[Ops, ...]
    order: MemoryOrder | None = None

    def of_program(self, program: Program, number: int) -> Program | None:
        """The program of that question with the change; None where it has no such place."""
        if not self.ops[number]:
            return None
        match self.kind:
            case "order":
                assert self.order is not None
                place = next(one for one in shared_places([program]) if one.ops[0] & self.ops[number])
                return weakened(program, replace(place.place, ops=self.ops[number]), self.order)
            case "failure":
                assert self.order is not None
                return _with_failure(program, self.ops[number], self.order)
            case "fence":
                return _without(program, self.ops[number])
            case "split":
                return _split(program, self.ops[number])


def mutants(programs: Sequence[Program]) -> tuple[Mutant, ...]:
    """Every mutant of the texts that belong to the user, in the order of the text."""
    found = [*_of_orders(programs), *_of_failures(programs), *_of_fences(programs), *_of_updates(programs)]
    first = programs[0].source

    def in_text(one: Mutant) -> tuple[bool, str, int, int]:
        return one.span.source.path != first.path, one.span.source.path, one.span.start, one.span.end

    return tuple(sorted((one for one in found if _is_own(programs[0], one.span)), key=in_text))


def _is_own(program: Program, span: Span) -> bool:
    return span.source is program.source or (program.language == "c" and may_be_edited(program, span.source))


def _of_orders(programs: Sequence[Program]) -> Iterator[Mutant]:
    for one in shared_places(programs):
        place = one.place
        if not strengths_of(place.kind, place.order):
            continue
        is_fence = place.kind == "fence"
        for order in weaker_orders(place):
            is_gone = is_fence and order is MemoryOrder.RELAXED
            words = "no fence" if is_gone else order.value
            yield Mutant("order", place.span, place.kind, place.order.value, words, one.ops, order)
        if is_fence and len(strengths_of("fence", place.order)) > 1:
            yield Mutant("order", place.span, "fence", place.order.value, "no fence", one.ops, MemoryOrder.RELAXED)


def _steps(programs: Sequence[Program]) -> Iterator[tuple[int, int, int, Transition]]:
    for number, program in enumerate(programs):
        for p, process in enumerate(program.processes):
            for t, step in enumerate(process.transitions):
                if step.span.source is not NOWHERE.source:
                    yield number, p, t, step


def _gathered(
    found: Iterable[tuple[tuple[Span, str, str], int, OpNumber]], count: int
) -> Iterator[tuple[Span, str, str, tuple[Ops, ...]]]:
    """By their places in the text, which the programs share."""
    known: dict[tuple[str, int, int, str, str], tuple[Span, list[Ops]]] = {}
    for (span, what, was), number, op in found:
        key = (span.source.path, span.start, span.end, what, was)
        _, ops = known.setdefault(key, (span, [frozenset()] * count))
        ops[number] |= {op}
    for (_, _, _, what, was), (span, ops) in known.items():
        yield span, what, was, tuple(ops)


def _of_failures(programs: Sequence[Program]) -> Iterator[Mutant]:
    found = (
        ((step.span, "compare-exchange that fails", op.failure_order.value), number, (p, t, o))
        for number, p, t, step in _steps(programs)
        for o, op in enumerate(step.ops)
        if isinstance(op, Rmw) and op.expected is not None and strengths_of("load", op.failure_order)
    )
    for span, what, was, ops in _gathered(found, len(programs)):
        order = MemoryOrder.ACQUIRE if was == MemoryOrder.SEQ_CST.value else MemoryOrder.RELAXED
        yield Mutant("failure", span, what, was, order.value, ops, order)


def _of_fences(programs: Sequence[Program]) -> Iterator[Mutant]:
    """Fences that are instructions."""
    found = (
        ((step.span, op.kind, op.kind), number, (p, t, o))
        for number, p, t, step in _steps(programs)
        for o, op in enumerate(step.ops)
        if isinstance(op, Fence) and op.kind not in ("thread_fence", "locked") and not step.locked
    )
    for span, what, was, ops in _gathered(found, len(programs)):
        yield Mutant("fence", span, what, was, "no fence", ops)


def _of_updates(programs: Sequence[Program]) -> Iterator[Mutant]:
    found = (
        ((step.span, "rmw", "one step"), number, (p, t, o))
        for number, p, t, step in _steps(programs)
        if (o := _half(programs[number], step)) is not None
    )
    for span, what, was, ops in _gathered(found, len(programs)):
        yield Mutant("split", span, what, was, "a load, then a store", ops)


def _half(program: Program, step: Transition) -> int | None:
    """Where a locked operation of the user's can be cut in two: the number of its store, or of the whole."""
    if step.sync is not None:
        return None
    for o, op in enumerate(step.ops):
        if isinstance(op, Rmw):
            return None if any(isinstance(later, Assume | Rmw | Store) for later in step.ops[o + 1 :]) else o
    if not step.locked or not (step.is_update or program.language != "c"):
        return None
    stores = [o for o, op in enumerate(step.ops) if isinstance(op, Store)]
    loads = [o for o, op in enumerate(step.ops) if isinstance(op, Load)]
    return stores[0] if stores and loads and loads[0] < stores[0] else None


def _with_failure(program: Program, ops: Ops, order: MemoryOrder) -> Program:
    def weaker(op: Op) -> Op:
        return replace(op, failure_order=order) if isinstance(op, Rmw) else op

    return _each(program, lambda p, t, step: _mapped(step, ops, p, t, weaker))


def _without(program: Program, ops: Ops) -> Program:
    def left(p: int, t: int, step: Transition) -> Transition:
        kept = tuple(op for o, op in enumerate(step.ops) if (p, t, o) not in ops)
        return step if len(kept) == len(step.ops) else replace(step, ops=kept)

    return _each(program, left)


def _each(program: Program, change: Callable[[int, int, Transition], Transition]) -> Program:
    processes = tuple(
        replace(process, transitions=tuple(change(p, t, step) for t, step in enumerate(process.transitions)))
        for p, process in enumerate(program.processes)
    )
    return replace(program, processes=processes)


def _mapped(step: Transition, ops: Ops, p: int, t: int, change: Callable[[Op], Op]) -> Transition:
    return replace(step, ops=tuple(change(op) if (p, t, o) in ops else op for o, op in enumerate(step.ops)))


def _split(program: Program, ops: Ops) -> Program:
    """Each of these operations as two steps, between which others may come."""
    by_process: dict[int, dict[int, int]] = {}
    for p, t, o in ops:
        by_process.setdefault(p, {})[t] = o
    processes = tuple(
        _halved(program, process, by_process[p]) if p in by_process else process
        for p, process in enumerate(program.processes)
    )
    return replace(program, processes=processes)


def _halved(program: Program, process: Process, cuts: dict[int, int]) -> Process:
    registers, locations = list(process.registers), list(process.locations)
    changed, added = list(process.transitions), list[Transition]()
    for t, o in sorted(cuts.items()):
        step = process.transitions[t]
        first, second = _parts(program, step, o, registers)
        locations.append(Location(f"half{t}", span=step.span))
        middle = len(locations) - 1
        plain = replace(step, locked=False, is_update=False, cuts=(), origin=())
        changed[t] = replace(plain, target=middle, ops=first, point=None)
        added.append(replace(plain, source=middle, ops=second))
    transitions = (*changed, *added)
    return replace(process, registers=tuple(registers), locations=tuple(locations), transitions=transitions)


def _parts(
    program: Program, step: Transition, o: int, registers: list[RegisterVar]
) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    op = step.ops[o]
    if not isinstance(op, Rmw):
        return step.ops[:o], step.ops[o:]
    domains = [program.variables[number].domain for number in op.address.variables]
    lo, hi = min(0, *(one.lo for one in domains)), max(0, *(one.hi for one in domains))
    registers.append(RegisterVar(f"%half{len(registers)}", Domain(lo, hi)))
    old = Register(len(registers) - 1)
    done = None if op.expected is None else Binary("==", old, op.expected)
    load = Load(old.index, op.address, order=op.order.of_read)
    store = Store(op.address, value_written(op, old), order=op.order.of_write, when=done)
    known = () if op.register is None else (Assign(op.register, old),)
    return (*step.ops[:o], load), (store, *known, Assign(old.index, Const(0)), *step.ops[o + 1 :])
