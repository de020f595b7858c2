"""From an assignment back to the decisions that make an execution."""

from __future__ import annotations

from functools import cmp_to_key

from memfence.axiomatic.execution import Decisions, Place
from memfence.engines.axiomatic.core import Core
from memfence.engines.axiomatic.events import Event
from memfence.engines.axiomatic.sat import Assignment


def decisions_of(core: Core, found: Assignment) -> Decisions:
    """What determines the execution that the solver found."""
    events = core.events
    return Decisions(
        initial=tuple(found.value(vector.bits) for vector in events.initial),
        chosen={place: found.value(vector.bits) for place, vector in events.chosen.items()},
        read_from={
            events.list[read].place: events.list[write].place
            for (write, read), literal in core.memory.read_from.items()
            if found.is_true(literal)
        },
        order={variable: _order(core, found, variable) for variable in range(len(events.initial))},
        values={
            read.place: found.value(read.value.bits)
            for read in core.memory.reads
            if read.value is not None and found.is_true(read.happens)
        },
    )


def _order(core: Core, found: Assignment, variable: int) -> tuple[Place, ...]:
    """The writes that happened at the variable, as they reached it; the initial one first."""
    order = core.memory.order

    def compare(a: Event, b: Event) -> int:
        return -1 if found.is_true(order[a.number, b.number]) else 1

    writes = [write for write in core.memory.writes_at(variable) if found.is_true(write.at[variable])]
    places = [write.place for write in sorted(writes, key=cmp_to_key(compare))]
    return tuple(places) or ((-1, variable),)
