"""Reasons to doubt that HOLDS says what its reader hopes, as data: `reports.doubts` puts them into words."""

from __future__ import annotations

from memfence.execution.trace import Trace
from memfence.records import dataclass
from memfence.source import Span


@dataclass(frozen=True, slots=True)
class Stuck:
    """The run ends where no step is possible, though not every process has ended."""

    trace: Trace


@dataclass(frozen=True, slots=True)
class NeverTaken:
    """No run takes this statement, though some run comes to it (`is_reached`) or not; all at `at` share that fate."""

    process: int
    transition: int
    at: Span
    is_reached: bool
    is_assertion: bool


@dataclass(frozen=True, slots=True)
class NeverTrue:
    """The property says something only where this part of it is true, and no run comes there.

    `stated`: the position of the property among those asked. `premise`: the part, as text.
    """

    stated: int
    premise: str


@dataclass(frozen=True, slots=True)
class NothingToCheck:
    """The model was compared with itself, and nothing else was asked."""


Doubt = Stuck | NeverTaken | NeverTrue | NothingToCheck
