"""Plain accesses of two threads that race: what a verdict about C does not cover, because a compiler may move them."""

from __future__ import annotations

from memfence.records import dataclass
from memfence.source import Span


@dataclass(frozen=True, slots=True)
class RacingAccess:
    """One of the two accesses: who, where, and how. A plain one is neither atomic nor volatile."""

    process: str
    span: Span
    writes: bool
    is_plain: bool


@dataclass(frozen=True, slots=True)
class PlainRace:
    """Two threads can be about to access `variable` at the same moment under SC; `first` is plain."""

    variable: str
    first: RacingAccess
    second: RacingAccess


@dataclass(frozen=True, slots=True)
class PlainRaces:
    """What the search found. Not `complete`: a limit ended it, and there may be more."""

    races: tuple[PlainRace, ...] = ()
    complete: bool = True
