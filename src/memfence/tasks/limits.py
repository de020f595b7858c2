"""What every engine shares: limits on a search, why it stopped, and what it cost."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import TypeAlias, TypedDict

from memfence import _core

STATM = Path("/proc/self/statm")
"""Where Linux tells how much memory this process holds, in pages."""

ProgressCallback = Callable[[int, int, int, float, float], object]
"""Called about ten times a second with: states, transitions, queue, seconds, megabytes."""


CancelToken: TypeAlias = _core.Cancel
"""Ends a search from another thread."""


def new_cancel() -> CancelToken:
    return _core.Cancel()


class Stop(Enum):
    """Why a search ended. NOTHING_LEFT: it saw everything there is."""

    NOTHING_LEFT = 0
    TIMEOUT = 1
    MEMORY = 2
    CANCELLED = 3
    FOUND = 4
    STATES = 5


class CoreLimits(TypedDict):
    """The keyword arguments that every search of the core takes."""

    timeout_seconds: float
    memory_bytes: int
    cancel: _core.Cancel | None
    progress: Callable[..., bool] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a search may use. No limit on time by default; on memory, three quarters of the machine's.

    `most_states` ends a search at about that many states, sets of states or constraints; 0 does not. Unlike time, it
    ends the same search at the same place on every machine.
    """

    timeout_seconds: float | None = None
    memory_megabytes: int | None = None
    threads: int = 1
    most_states: int = 0
    progress: ProgressCallback | None = field(default=None, compare=False)
    cancel: _core.Cancel | None = field(default=None, compare=False)

    @property
    def memory_bytes(self) -> int:
        if self.memory_megabytes is not None:
            return self.memory_megabytes * 1_000_000
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4

    def part(self, searches: int) -> int:
        """Megabytes of memory that the whole process may use for one of several searches at a time."""
        used = resident_megabytes()
        return int(used + max(0.0, self.memory_bytes / 1e6 - used) / searches)

    def for_core(self) -> CoreLimits:
        """The keyword arguments that every search of the core takes."""
        progress = self.progress
        return {
            "timeout_seconds": self.timeout_seconds or 0.0,
            "memory_bytes": self.memory_bytes,
            "cancel": self.cancel,
            "progress": None if progress is None else (lambda *numbers: progress(*numbers) is not False),
        }

    def describe(self, stop: Stop) -> str:
        """The limit that `stop` names, as users know it."""
        match stop:
            case Stop.TIMEOUT:
                return "the time set aside" if self.timeout_seconds is None else f"timeout {self.timeout_seconds:g} s"
            case Stop.MEMORY:
                return f"memory {self.memory_bytes // 1_000_000} MB"
            case Stop.CANCELLED:
                return "interrupted"
            case Stop.STATES:
                return f"{self.most_states} states"
            case _:
                return "none"


class Deadline:
    """The one timeout of a question that several searches answer in turn."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.start = time.monotonic()

    @property
    def passed(self) -> bool:
        left = self.limits.timeout_seconds
        return left is not None and time.monotonic() - self.start >= left

    def remaining(self, **changes: object) -> Limits:
        """The limits for the next search: what is left of the time, and `changes`."""
        limits = replace(self.limits, **changes)  # type: ignore[arg-type]
        if self.limits.timeout_seconds is None:
            return limits
        left = max(0.001, self.limits.timeout_seconds - (time.monotonic() - self.start))
        return replace(limits, timeout_seconds=min(left, limits.timeout_seconds or left))


@dataclass(frozen=True, slots=True)
class Cost:
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
    return os.cpu_count() or 1
