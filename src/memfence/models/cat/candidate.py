"""One execution as cat sees it: events by number, named sets of them, named relations between them."""

from __future__ import annotations

from collections.abc import Mapping

from memfence.records import Record


class Candidate(Record):
    """`size` events. A set is a bit mask (bit i: event i); a relation has a bit mask of successors for each event.

    Sets: `R`, `W`, `F` (fences), `M` (R or W), `IW` (initial writes) and the tags of the model, such as `ACQ` or
    `DMB.SY`. Relations: `po`, `rf`, `co`, `loc` (same address), `int` and `ext` (same thread or not; initial writes are
    of no thread, each `ext` to all others), `addr`, `data`, `ctrl`, `rmw` (`amo` or `lxsx`), `amo`, `lxsx`, and, also
    from each event to itself, `together` (events of one step of a thread) and `step` (so, if the step is locked).
    Initial writes are not in `po`. Whatever else a model uses it defines itself. A name that is absent is empty.
    """

    size: int
    sets: Mapping[str, int]
    relations: Mapping[str, tuple[int, ...]]
