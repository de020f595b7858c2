"""Limits and costs at the seam: what every search of the core takes, and what it reports back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from memfence import _core
from memfence.tasks.limits import Cancel, Cost, Limits


class CoreLimits(TypedDict):
    """The keyword arguments that every search of the core takes."""

    timeout_seconds: float
    memory_bytes: int
    compact_from: int
    cancel: _core.Cancel | None
    progress: Callable[..., bool] | None


def for_core(limits: Limits) -> CoreLimits:
    """The limits of a search that starts now."""
    progress = limits.progress
    return {
        "timeout_seconds": limits.seconds or 0.0,
        "memory_bytes": limits.memory_bytes,
        "compact_from": limits.compact_from,
        "cancel": None if limits.cancel is None else _native(limits.cancel),
        "progress": None if progress is None else (lambda *numbers: progress(*numbers) is not False),
    }


def _native(cancel: Cancel) -> _core.Cancel:
    token = _core.Cancel()
    cancel.when_cancelled(token.cancel)
    return token


def cost_of(stats: _core.SearchStats) -> Cost:
    return Cost(stats.states, stats.transitions, stats.seconds, stats.state_bits, stats.depth)
