"""Slow twins for the monitor: the definitions of Sober on recorded events, by naive transitive closure.

An interleaving is a list of events in the order in which they happened. Definitions 1 to 6 of the paper, with the
correction that a load which sees its own thread's store is not ordered after other threads' writes (it may have been
served by the store buffer).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hypothesis import strategies as st

from memfence.execution import event as execution
from memfence.execution.event import EventKind
from memfence.execution.recording import TraceEvent

Op = Literal["ld", "st", "il"]


@dataclass(frozen=True, slots=True)
class Event:
    """`index`: the coherence index, how many writes to the address there are up to what the event saw or wrote."""

    op: Op
    thread: int
    address: int
    index: int = 0

    @property
    def writes(self) -> bool:
        return self.op != "ld"


Pairs = frozenset[tuple[int, int]]


@st.composite
def interleavings(draw: st.DrawFn, threads: int = 3, addresses: int = 2, most: int = 12) -> tuple[Event, ...]:
    """Random SC interleavings: mostly loads and stores; each load sees the last write."""
    ops = st.sampled_from(["ld", "st", "ld", "st", "ld", "st", "ld", "st", "il"])
    picks = st.tuples(ops, st.integers(0, threads - 1), st.integers(0, addresses - 1))
    written = [0] * addresses
    events = []
    for op, thread, address in draw(st.lists(picks, min_size=2, max_size=most)):
        written[address] += op != "ld"
        events.append(Event(op, thread, address, written[address]))
    return tuple(events)


def program_order(events: Sequence[Event]) -> Pairs:
    return frozenset(
        (i, j) for i, a in enumerate(events) for j, b in enumerate(events) if i < j and a.thread == b.thread
    )


def conflict_order(events: Sequence[Event]) -> Pairs:
    """e before e' where both access one address and e' writes later, or e' loads what e or a later write wrote."""
    found = set()
    for i, a in enumerate(events):
        for j, b in enumerate(events):
            if i != j and a.address == b.address:
                later_write = b.writes and a.index < b.index
                seen = a.writes and b.op == "ld" and a.index <= b.index
                if later_write or seen:
                    found.add((i, j))
    return frozenset(found)


def sees_own_store(events: Sequence[Event], load: int) -> bool:
    """Whether the load sees a plain store of its own thread."""
    e = events[load]
    return any(w.op == "st" and w.thread == e.thread and w.address == e.address and w.index == e.index for w in events)


def happens_before(events: Sequence[Event]) -> Pairs:
    return program_order(events) | conflict_order(events)


def relaxed_happens_before(events: Sequence[Event]) -> Pairs:
    """Without what a store buffer does not keep: a store before a later load of its thread."""
    program, conflict = program_order(events), conflict_order(events)
    kept_program = {(i, j) for i, j in program if not (events[i].op == "st" and events[j].op == "ld")}
    kept_conflict = {
        (i, j)
        for i, j in conflict
        if not ((i, j) in program and events[i].op == "st" and events[j].op == "ld")
        and not (events[j].op == "ld" and events[i].writes and sees_own_store(events, j))
    }
    return frozenset(kept_program | kept_conflict)


def closure(count: int, pairs: Pairs) -> list[set[int]]:
    """For each event, those reached from it, itself included: by repeating until nothing changes."""
    reached = [{i} for i in range(count)]
    changed = True
    while changed:
        changed = False
        for i, j in pairs:
            if not reached[j] <= reached[i]:
                reached[i] |= reached[j]
                changed = True
    return reached


def is_acyclic(count: int, pairs: Pairs) -> bool:
    reached = closure(count, pairs)
    return not any(i in reached[j] for i, j in pairs)


def is_sc(events: Sequence[Event]) -> bool:
    """Definition 2."""
    return is_acyclic(len(events), happens_before(events))


def is_tso(events: Sequence[Event]) -> bool:
    """Definition 3."""
    snoops = not any((j, i) in conflict_order(events) for i, j in program_order(events))
    return snoops and is_acyclic(len(events), relaxed_happens_before(events))


def first_borderline(events: Sequence[Event]) -> int | None:
    """Definition 6: the first load that with an older value would make a TSO execution and no SC one."""
    for k, load in enumerate(events):
        if load.op == "ld":
            for index in range(load.index):
                changed = [*events[:k], replace(load, index=index)]
                if is_tso(changed) and not is_sc(changed):
                    return k
    return None


def as_lines(events: Sequence[Event]) -> str:
    """The interleaving as a trace: values are coherence indices."""
    return "".join(
        json.dumps({"op": e.op, "thread": e.thread, "addr": f"x{e.address}", "value": e.index}) + "\n" for e in events
    )


KINDS: dict[Op, EventKind] = {"ld": "load", "st": "store", "il": "rmw"}


def as_trace_events(events: Sequence[Event]) -> list[TraceEvent]:
    """The same as events of a record, without a detour through text."""
    return [
        TraceEvent(execution.Event(str(e.thread), KINDS[e.op], f"x{e.address}", e.index), line=line)
        for line, e in enumerate(events, 1)
    ]
