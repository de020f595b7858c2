"""Plain accesses of two threads that race: what a verdict about C does not cover, because a compiler may move them."""

from __future__ import annotations

from memfence.records import Record
from memfence.source import Span


class RacingAccess(Record):
    """One of the two accesses: who, where, and how. A plain one is neither atomic nor volatile."""

    process: str
    span: Span
    writes: bool
    is_plain: bool


class PlainRace(Record):
    """Two threads can be about to access `variable` at the same moment under SC; `first` is plain."""

    variable: str
    first: RacingAccess
    second: RacingAccess


class PlainRaces(Record):
    """What the search found. Not `complete`: a limit ended it, and there may be more."""

    races: tuple[PlainRace, ...] = ()
    complete: bool = True
