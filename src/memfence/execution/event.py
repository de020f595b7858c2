"""One event of an execution: who accesses what, how, and with which value.

The same for a run of a model (a thread is a process, an address a variable, both by number, and the place is a span of
the program) and for the record of a running program (all of them are texts). When an event happens is the matter of
the graph (`execution.graph`) or of the recording (`execution.recording`) that it belongs to.
"""

from __future__ import annotations

from typing import Literal

from memfence.program.orders import MemoryOrder
from memfence.records import Record
from memfence.source import NOWHERE, Span

EventKind = Literal["load", "store", "rmw", "fence", "direct store", "sync", "wait", "init"]
"""`direct store`: one that goes past the store buffer. `sync`: takes part in a step with another thread, without an
access. `wait`: a load that did not happen, for ever. `init`: the value that an address holds at the start."""

READS: frozenset[EventKind] = frozenset({"load", "rmw"})
WRITES: frozenset[EventKind] = frozenset({"store", "rmw", "direct store"})

Thread = int | str
Cell = int | str
"""An address: a variable by its number, or whatever the recorder of a program calls it."""


class Event(Record):
    """`value`: what was read or, for a write, written; None where nobody knows. `thread`: None for `init` only."""

    thread: Thread | None
    kind: EventKind
    address: Cell | None = None
    value: int | None = None
    order: MemoryOrder = MemoryOrder.PLAIN
    place: Span | str | None = None

    @property
    def reads(self) -> bool:
        return self.kind in READS

    @property
    def writes(self) -> bool:
        return self.kind in WRITES

    @property
    def is_access(self) -> bool:
        """Whether it touches memory."""
        return self.reads or self.writes

    @property
    def span(self) -> Span:
        """The place in a program; NOWHERE for what has none, or only a text."""
        return self.place if isinstance(self.place, Span) else NOWHERE

    @property
    def place_text(self) -> str | None:
        """`file:line`, or whatever the recorder wrote."""
        return self.place.place if isinstance(self.place, Span) else self.place


def conflict(a: Event, b: Event) -> bool:
    """Whether both access one address and at least one of them writes it."""
    return a.address == b.address and a.is_access and b.is_access and (a.writes or b.writes)
