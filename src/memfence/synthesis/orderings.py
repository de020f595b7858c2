"""What of a program orders accesses, and the program without some of it.

In every language that is the fences. In C it is also a seq_cst store (on x86 an `xchg`; the next weaker one is a
release store, a `mov`) and a read-modify-write (a locked instruction; without its lock it reads memory and stores
through the buffer like any other). A seq_cst load is listed because people ask; with store buffers it is a load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Literal

from memfence.models.spec import ModelSpec
from memfence.passes.orders import for_hardware
from memfence.program.ir import Fence, Load, Op, Program, Rmw, Store, Transition, WrittenFence
from memfence.program.orders import MemoryOrder
from memfence.records import Record
from memfence.source import NOWHERE, Span

OrderingKind = WrittenFence | Literal["store", "load", "rmw"]


class ExistingFence(Record):
    """A fence of the text, or what else orders accesses, and the transitions (process, number) that execute it.

    `order`: of a thread fence.
    """

    kind: OrderingKind
    at: Span
    executed: frozenset[tuple[int, int]]
    order: MemoryOrder = MemoryOrder.SEQ_CST

    @property
    def is_free(self) -> bool:
        """Whether it costs nothing, and orders nothing, on hardware with store buffers."""
        return self.kind == "load"


def existing_fences(program: Program) -> tuple[ExistingFence, ...]:
    """Every fence statement, in the order of the text; in C also seq_cst accesses and read-modify-writes."""
    found: dict[tuple[str, int, OrderingKind], tuple[Span, MemoryOrder, set[tuple[int, int]]]] = {}
    for p, process in enumerate(program.processes):
        for t, transition in enumerate(process.transitions):
            for kind, order in _orderings(program, transition):
                span = transition.span
                number = t if span.source is NOWHERE.source else span.start
                key = (f"{p}" if span.source is NOWHERE.source else span.source.path, number, kind)
                found.setdefault(key, (span, order, set()))[2].add((p, t))
    return tuple(
        ExistingFence(kind, span, frozenset(executed), order)
        for (_, _, kind), (span, order, executed) in sorted(found.items(), key=lambda item: item[0])
    )


def _orderings(program: Program, transition: Transition) -> Iterator[tuple[OrderingKind, MemoryOrder]]:
    if not transition.locked:
        yield from ((op.kind, op.order) for op in transition.ops if isinstance(op, Fence))
    if program.language != "c":
        return
    if _is_rmw(transition):
        yield "rmw", MemoryOrder.SEQ_CST
        return
    for op in transition.ops:
        match op:
            case Store(order=MemoryOrder.SEQ_CST):
                yield "store", MemoryOrder.SEQ_CST
            case Load(order=MemoryOrder.SEQ_CST):
                yield "load", MemoryOrder.SEQ_CST
            case _:
                pass


def _is_rmw(transition: Transition) -> bool:
    """Whether the user wrote a read-modify-write there: locks and the like have no memory order of their own."""
    return transition.is_update or any(isinstance(op, Rmw) for op in transition.ops)


def without_fences(program: Program, fences: Iterable[ExistingFence], model: ModelSpec | None = None) -> Program:
    """`program` as if these had never been written, or were as weak as can be; `model` says what is weaker."""
    dropped: dict[tuple[int, int], set[OrderingKind]] = {}
    for fence in fences:
        for place in fence.executed:
            dropped.setdefault(place, set()).add(fence.kind)
    weaker = _changed(program, lambda p, t, transition: _kept(transition, dropped.get((p, t), set())))
    unlocked = {place for place, kinds in dropped.items() if "rmw" in kinds}
    if not unlocked:
        return weaker
    assert model is not None, "what an unlocked instruction is depends on the memory model"
    return _changed(
        for_hardware(weaker, model),
        lambda p, t, transition: replace(transition, locked=transition.locked and (p, t) not in unlocked),
    )


def _changed(program: Program, change: Callable[[int, int, Transition], Transition]) -> Program:
    processes = tuple(
        replace(process, transitions=tuple(change(p, t, found) for t, found in enumerate(process.transitions)))
        for p, process in enumerate(program.processes)
    )
    return replace(program, processes=processes)


def _kept(transition: Transition, kinds: set[OrderingKind]) -> Transition:
    ops: tuple[Op, ...] = tuple(op for op in transition.ops if not isinstance(op, Fence) or op.kind not in kinds)
    if "store" in kinds:
        ops = tuple(_released(op) for op in ops)
    if ops == transition.ops:
        return transition
    return replace(transition, ops=ops, span=transition.span if ops else _left_out(transition.span))


def _left_out(fence: Span) -> Span:
    """What a run shows in its place: a step that does nothing."""
    return replace(fence, shown=f"(without {fence.shown or ' '.join(fence.text.split())})")


def _released(op: Op) -> Op:
    if isinstance(op, Store) and op.order is MemoryOrder.SEQ_CST:
        return replace(op, order=MemoryOrder.RELEASE)
    return op
