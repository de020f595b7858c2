"""Vacuity warnings, as data: why HOLDS may say less than its reader hopes. `report.words.vacuity` words them."""

from __future__ import annotations

from memfence.execution.trace import Trace
from memfence.records import Record
from memfence.source import Span


class Stuck(Record):
    """The run ends where no step is possible, though not every process has ended."""

    trace: Trace


class NeverTaken(Record):
    """No run takes this statement, though some run comes to it (`is_reached`) or not; all at `at` share that fate."""

    process: int
    transition: int
    at: Span
    is_reached: bool
    is_assertion: bool


class NeverReached(Record):
    """The front end left this assertion out: no run comes to it."""

    at: Span


class NeverTrue(Record):
    """The property says something only where this part of it is true, and no run comes there.

    `stated`: the position of the property among those asked. `premise`: the part, as text.
    """

    stated: int
    premise: str


class NoWayThere(Record):
    """The property looks whether a process is at `place`, and no step leads there. `stated` as above."""

    stated: int
    place: str


class NothingToCheck(Record):
    """The model was compared with itself, and nothing else was asked."""


class OneProcess(Record):
    """There is nobody else to see what the only process does, and nothing was asked about it."""


VacuityWarning = Stuck | NeverTaken | NeverReached | NeverTrue | NoWayThere | NothingToCheck | OneProcess
