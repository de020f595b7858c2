"""Where stores wait before they reach memory: what tells the memory models apart."""

from __future__ import annotations

from enum import Enum


class Buffering(Enum):
    """Where a store waits before it reaches memory."""

    NOWHERE = "nowhere"
    PER_PROCESS = "one queue per process"
    PER_VARIABLE = "one queue per process and variable"

    @property
    def delays_stores(self) -> bool:
        return self is not Buffering.NOWHERE

    @property
    def reorders_stores(self) -> bool:
        """Whether a store can overtake an earlier store of its process."""
        return self is Buffering.PER_VARIABLE
