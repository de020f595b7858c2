"""Putting transitions that follow each other together into one, so that its ops do what theirs did."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memfence.program.expressions import Const
from memfence.program.facts.effects import register_written, registers_read
from memfence.program.ir import Assign, Op, Process, Transition
from memfence.source import Span


def joined_ops(
    process: Process, parts: Sequence[Sequence[Op]], reads: Callable[[Op], frozenset[int]] = registers_read
) -> tuple[Op, ...]:
    """The ops of all `parts` in order. `reads`: `registers_read`, or something that remembers what that says.

    Transient registers are 0 at the start of every transition: one that an earlier part has set and a later part reads
    before setting it is set back to 0 in between.
    """
    joined: list[Op] = []
    used: set[int] = set()
    for ops in parts:
        joined += [Assign(r, Const(0)) for r in sorted(used & read_before_written(ops, reads))] if used else []
        joined += ops
        written = {register_written(op) for op in ops} - {None}
        used |= {r for r in written if r is not None and process.registers[r].transient}
    return tuple(joined)


def read_before_written(ops: Sequence[Op], reads: Callable[[Op], frozenset[int]] = registers_read) -> frozenset[int]:
    """The registers whose value before `ops` matters to them."""
    read: set[int] = set()
    written: set[int] = set()
    for op in ops:
        read |= reads(op) - written
        register = register_written(op)
        if register is not None:
            written.add(register)
    return frozenset(read)


def joined_span(transitions: Sequence[Transition]) -> Span:
    """From the start of the first to the end of the last, where that is one place; else the first."""
    first, last = transitions[0].span, transitions[-1].span
    if first.source is last.source and first.start <= last.end:
        return Span(first.source, first.start, last.end)
    return first
