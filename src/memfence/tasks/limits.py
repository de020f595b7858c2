"""What a search may use, why it stopped, and what it cost."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable
from dataclasses import field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from memfence.deadline import Deadline
from memfence.records import Record

STATM = Path("/proc/self/statm")
"""Where Linux tells how much memory this process holds, in pages."""

ProgressCallback = Callable[[int, int, int, float, float], object]
"""Called about ten times per second with: states, transitions, queue, seconds, megabytes."""


class Cancel:
    """Ends searches from another thread. A search that starts later ends at once."""

    def __init__(self) -> None:
        self.is_cancelled = False
        self._listeners: list[Callable[[], object]] = []

    def cancel(self) -> None:
        self.is_cancelled = True
        for listener in self._listeners:
            listener()

    def when_cancelled(self, listener: Callable[[], object]) -> None:
        """Have `listener` called once this is cancelled, which may be now."""
        self._listeners.append(listener)
        if self.is_cancelled:
            listener()


class Stop(Enum):
    """Why a search ended. NOTHING_LEFT: it saw everything there is."""

    NOTHING_LEFT = 0
    TIMEOUT = 1
    MEMORY = 2
    CANCELLED = 3
    FOUND = 4
    STATES = 5
    LOST = 6
    """A machine of the cluster was lost, again and again."""


class Limits(Record, kw_only=True):
    """What a search may use. No limit on time by default; on memory, three quarters of the machine's.

    `deadline` is the user's, and the same for all searches of a question. `timeout_seconds` ends a single search
    before that. `most_states` ends it at about that many states, sets of states or constraints; 0 does not. Unlike
    time, it ends the same search at the same place on every machine. From `compact_from` states on, an explicit search
    keeps the bare states, without the way to them; 0: only when memory ends. `cluster`: `local`, `local:N` or the
    address of a Ray cluster, whose machines share the search.
    """

    deadline: Deadline = field(default_factory=Deadline, compare=False)
    timeout_seconds: float | None = None
    memory_megabytes: int | None = None
    threads: int = 1
    most_states: int = 0
    compact_from: int = 0
    progress: ProgressCallback | None = field(default=None, compare=False)
    cancel: Cancel | None = field(default=None, compare=False)
    cluster: str | None = None

    @property
    def seconds(self) -> float | None:
        """The time that a search which starts now may take."""
        both = [limit for limit in (self.timeout_seconds, self.deadline.left) if limit is not None]
        return min(both) if both else None

    @property
    def memory_bytes(self) -> int:
        if self.memory_megabytes is not None:
            return self.memory_megabytes * 1_000_000
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4

    def announce(self, engine: str) -> None:
        """Tell whoever watches the progress which engine searches now, if it wants to know."""
        listener = getattr(self.progress, "searching", None)
        if listener is not None:
            listener(engine)

    def within(self, **changes: Any) -> Limits:
        """These limits with some of them changed."""
        return replace(self, **changes)

    def part(self, searches: int) -> int:
        """Megabytes of memory that the whole process may use for one of several searches at a time."""
        used = resident_megabytes()
        return int(used + max(0.0, self.memory_bytes / 1e6 - used) / searches)


class Cost(Record):
    """What a search has cost; costs of several searches add up."""

    states: int = 0
    transitions: int = 0
    seconds: float = 0.0
    state_bits: int = 0
    depth: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.states + other.states,
            self.transitions + other.transitions,
            self.seconds + other.seconds,
            max(self.state_bits, other.state_bits),
            max(self.depth, other.depth),
        )


def resident_megabytes() -> float:
    """The memory this process holds now; where the system does not tell (macOS), the most it ever held."""
    try:
        pages = int(STATM.read_text(encoding="ascii").split()[1])
    except OSError:
        return peak_megabytes()
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def peak_megabytes() -> float:
    """The most memory this process ever held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def all_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not everywhere
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
