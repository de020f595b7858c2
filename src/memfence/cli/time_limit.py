"""`--timeout` for what comes after a search: replaying, rendering and saving a run of a million steps takes a while.

The searches of the core watch the clock themselves. Everything behind them is plain Python in many places, so that an
alarm ends it rather than a question in each loop.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

GRACE_SECONDS = 1.0
"""A search that used up its time may still say what it has found."""
AGAIN_SECONDS = 0.2
"""An alarm that comes while the core looks for Ctrl-C is lost; so there are more of them."""


class TimeUp(Exception):
    """The limit was hit."""


class TimeLimit:
    """The time that a command has, from now on; None: any."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._start = time.monotonic()

    def __str__(self) -> str:
        return f"timeout {self.seconds:g} s"

    @contextmanager
    def guard(self) -> Iterator[None]:
        """TimeUp inside as soon as nothing is left of the time and of the grace."""
        if self.seconds is None:
            yield
            return
        before = signal.signal(signal.SIGALRM, _ring)
        left = self.seconds + GRACE_SECONDS - (time.monotonic() - self._start)
        signal.setitimer(signal.ITIMER_REAL, max(0.001, left), AGAIN_SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def _ring(*_: object) -> None:
    raise TimeUp
