"""Executions in which threads wait for ever, as a literal: `axiomatic.waiting` says what that means."""

from __future__ import annotations

from memfence.axiomatic.code import Wait
from memfence.engines.axiomatic.core import Core
from memfence.engines.axiomatic.events import Event


def waits_for_ever(core: Core, *, undecided: bool) -> int:
    """Where every thread has ended or waits for ever, and not all have ended."""
    clauses, ended = core.clauses, core.events.ended
    waiting = [_waits(core, thread, undecided) for thread in range(len(ended))]
    settled = [clauses.either(end, wait) for end, wait in zip(ended, waiting, strict=True)]
    return clauses.all_of([*settled, clauses.any_of(waiting)])


def _waits(core: Core, thread: int, undecided: bool) -> int:
    slots, clauses = core.events.slots[thread], core.clauses
    found = []
    for item in core.code.threads[thread].items:
        if isinstance(item, Wait) and (item.is_decided or undecided):
            stays = clauses.both(slots.is_true(item.guard), -slots.is_true(item.condition))
            reads = [core.events.list[core.number_of[thread, position]] for position in item.looks]
            found.append(clauses.all_of([stays, *(_has_seen_the_last(core, read) for read in reads)]))
    return clauses.any_of(found)


def _has_seen_the_last(core: Core, read: Event) -> int:
    """Where the read does not happen, or reads from the last write to its variable."""
    memory, clauses = core.memory, core.clauses
    last = [
        clauses.all_of((memory.read_from[write.number, read.number], here, memory.is_last(write, variable)))
        for variable, here in read.at.items()
        for write in memory.writes_at(variable)
        if (write.number, read.number) in memory.read_from
    ]
    return clauses.any_of([-read.happens, *last])
