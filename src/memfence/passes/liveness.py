"""Reduction 1: registers that nothing reads any more are reset, so that states that differ only there become one.

Backward liveness along the control flow of each process. What other processes, the question or a rendezvous look at is
live; transient registers are always 0 between transitions and need nothing.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.program.expressions import Const, registers_of
from memfence.program.facts.effects import register_written, registers_read
from memfence.program.facts.observation import Observed
from memfence.program.ir import Assign, Domain, Process, Program, RegisterVar, Transition
from memfence.program.traversal import distinct_ops

Registers = frozenset[int]


def dead_registers(program: Program, observed: Observed) -> tuple[tuple[Registers, ...], ...]:
    """For each process and location, the registers whose value makes no difference there."""
    return tuple(dead_registers_of(process, p, observed) for p, process in enumerate(program.processes))


def dead_registers_of(process: Process, number: int, observed: Observed) -> tuple[Registers, ...]:
    """For each location of the process, which has this number in its program, the registers that are dead there."""
    lasting = _lasting(process)
    return tuple(lasting - live for live in _live_registers(process, _seen_registers(number, observed)))


def reset_dead_registers(program: Program, observed: Observed) -> Program:
    """Set every register to its default wherever it is dead, at the start and at the end of transitions."""
    dead = dead_registers(program, observed)
    processes = tuple(_reset(process, dead[p]) for p, process in enumerate(program.processes))
    return replace(program, processes=processes)


def default_value(domain: Domain) -> int:
    """The value of the domain that is closest to 0."""
    return max(domain.lo, min(domain.hi, 0))


def _reset(process: Process, dead: tuple[Registers, ...]) -> Process:
    registers = tuple(
        replace(r, init=(default_value(r.domain),)) if n in dead[process.initial] else r
        for n, r in enumerate(process.registers)
    )
    lasting = _lasting(process)
    transitions = tuple(_with_resets(t, process.registers, lasting, dead) for t in process.transitions)
    return replace(process, registers=registers, transitions=transitions)


def _with_resets(
    transition: Transition, registers: tuple[RegisterVar, ...], lasting: Registers, dead: tuple[Registers, ...]
) -> Transition:
    """What was dead before and not written is at its default already."""
    stale = dead[transition.target] & (_written(transition) | (lasting - dead[transition.source]))
    if not stale:
        return transition
    resets = tuple(Assign(n, Const(default_value(registers[n].domain))) for n in sorted(stale))
    return replace(transition, ops=(*transition.ops, *resets))


def _lasting(process: Process) -> Registers:
    return frozenset(n for n, register in enumerate(process.registers) if not register.transient)


def _seen_registers(process: int, observed: Observed) -> Registers:
    return frozenset(register for owner, register in observed.registers if owner == process)


def _live_registers(process: Process, seen: Registers) -> list[Registers]:
    """For each location, the registers that some way on reads before it sets them."""
    arriving: list[list[Transition]] = [[] for _ in process.locations]
    for transition in process.transitions:
        arriving[transition.target].append(transition)
    reads = {id(op): registers_read(op) for op in distinct_ops(process)}
    uses = [[(t.source, *_uses(t, reads)) for t in transitions] for transitions in arriving]
    live = [seen for _ in process.locations]
    waiting = list(range(len(process.locations)))
    while waiting:
        location = waiting.pop()
        for source, read, written in uses[location]:
            before = live[source] | read | (live[location] - written)
            if before != live[source]:
                live[source] = before
                waiting.append(source)
    return live


def _uses(transition: Transition, reads: dict[int, Registers]) -> tuple[Registers, Registers]:
    """The registers that the transition reads before it sets them, and those that it sets; `reads`: by `id` of ops."""
    read: set[int] = set()
    sync = transition.sync
    for position in range(len(transition.ops), -1, -1):
        if position < len(transition.ops):
            op = transition.ops[position]
            read.discard(-1 if (written := register_written(op)) is None else written)
            read |= reads[id(op)]
        if sync is not None and position == sync.guard_ops:
            read -= set(sync.registers)
            for value in sync.values:
                read |= registers_of(value)
    return frozenset(read), _written(transition)


def _written(transition: Transition) -> Registers:
    written = {register for op in transition.ops if (register := register_written(op)) is not None}
    return frozenset(written) | frozenset(transition.sync.registers if transition.sync else ())
