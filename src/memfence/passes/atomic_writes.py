"""Writes that bypass the store buffers, as in Barnat, Brim and Havel, section III, rule 3.

An atomic write goes straight to memory, and its transition waits until no store is pending: of its own process, which
is what x86's LOCK does and the default here, or of any process, as the rule says. The paper's example (Fig. 6) is
discussed there as if it were the former: two atomic writes are needed then, one is enough under the rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from memfence.program.expressions import BufferEmpty, conjunction
from memfence.program.ir import Assume, Op, Program, Store, Transition
from memfence.program.orders import MemoryOrder

EVERY_VARIABLE = "*"
WaitsFor = Literal["all", "own"]


@dataclass(frozen=True, slots=True, order=True)
class AtomicWrite:
    """The writes to `variable` (an array as a whole, or `*`) by a transition of a process, both by number."""

    process: int
    transition: int
    variable: str = EVERY_VARIABLE


def with_atomic_writes(program: Program, writes: Iterable[AtomicWrite], *, waits_for: WaitsFor = "own") -> Program:
    """`program` with these writes made atomic; under sequential consistency nothing changes."""
    wanted: dict[tuple[int, int], set[str]] = {}
    for write in writes:
        wanted.setdefault((write.process, write.transition), set()).add(write.variable)
    everyone = range(len(program.processes))
    processes = []
    for p, process in enumerate(program.processes):
        transitions = tuple(
            _with_direct_stores(program, t, wanted[p, n], everyone if waits_for == "all" else [p])
            if (p, n) in wanted
            else t
            for n, t in enumerate(process.transitions)
        )
        processes.append(replace(process, transitions=transitions))
    return replace(program, processes=tuple(processes))


def with_locked_steps(program: Program) -> Program:
    """`program` with every transition locked whose writes are all atomic and wait for their own process: the same in
    every memory model, and what the criteria about shared memory understand."""
    processes = tuple(
        replace(process, transitions=tuple(_as_locked(t, number) for t in process.transitions))
        for number, process in enumerate(program.processes)
    )
    return program if processes == program.processes else replace(program, processes=processes)


def _as_locked(transition: Transition, process: int) -> Transition:
    waits = Assume(conjunction(BufferEmpty(process)))
    if transition.sync is not None or waits not in transition.ops or any(map(is_buffered_store, transition.ops)):
        return transition
    ops = tuple(replace(op, direct=False) if isinstance(op, Store) else op for op in transition.ops if op != waits)
    return replace(transition, ops=ops, locked=True)


def writes_of(program: Program) -> tuple[AtomicWrite, ...]:
    """Every write that can be made atomic, in the order of the program."""
    return tuple(
        AtomicWrite(p, n, variable)
        for p, process in enumerate(program.processes)
        for n, transition in enumerate(process.transitions)
        for variable in sorted({array_name(program, op) for op in transition.ops if is_buffered_store(op)})
    )


def is_buffered_store(op: Op) -> bool:
    return isinstance(op, Store) and not op.direct


def array_name(program: Program, op: Op) -> str:
    """The name of the variable that the store writes, without an index: what `(variable, transition)` calls it."""
    assert isinstance(op, Store)
    return program.variables[op.address.base].name.split("[")[0]


def _direct(store: Store) -> Store:
    """Its order says nothing more once it waits for what is pending."""
    return replace(store, direct=True, order=MemoryOrder.PLAIN)


def _with_direct_stores(
    program: Program, transition: Transition, variables: Collection[str], waits_for: Iterable[int]
) -> Transition:
    every = EVERY_VARIABLE in variables
    ops = tuple(
        _direct(op) if isinstance(op, Store) and (every or array_name(program, op) in variables) else op
        for op in transition.ops
    )
    if ops == transition.ops:
        return transition
    drained = Assume(conjunction(*(BufferEmpty(p) for p in waits_for)))
    sync = transition.sync
    if ops[0] == drained:
        return replace(transition, ops=ops)
    if sync is not None:
        sync = replace(sync, guard_ops=sync.guard_ops + 1)
    return replace(transition, ops=(drained, *ops), sync=sync)
