"""The one clock. A question has one time limit, which starts before its input is read and which all searches share."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

GRACE_SECONDS = 1.0
"""A search that used up its time may still say what it has found."""
AGAIN_SECONDS = 0.2
"""An alarm that comes while the core looks for Ctrl-C is lost; so there are more of them."""


class TimeUp(Exception):
    """The time was up in the middle of plain Python, which has no clock to look at; the limit was so many seconds."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(f"timeout {seconds:g} s")
        self.seconds = seconds


class Deadline:
    """`seconds` from now on; None: as long as it takes."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self.start = time.monotonic()

    @property
    def left(self) -> float | None:
        """Seconds that are left, never quite 0: a search with no time at all could not say how far it came."""
        return None if self.seconds is None else max(0.001, self.seconds - self.elapsed)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.start

    @property
    def passed(self) -> bool:
        return self.seconds is not None and self.elapsed >= self.seconds

    @contextmanager
    def enforced(self, grace: float = GRACE_SECONDS) -> Iterator[None]:
        """TimeUp inside as soon as the time, and the grace, are over.

        Searches look at the clock themselves. Reading a text, replaying, rendering and saving a run of a million steps
        are plain Python in many places, so that an alarm ends them rather than a question in each loop. Signals reach
        the main thread only: elsewhere nothing is enforced.
        """
        if self.seconds is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        limit = self.seconds

        def ring(*_: object) -> None:
            raise TimeUp(limit)

        before = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, max(0.001, self.seconds + grace - self.elapsed), AGAIN_SECONDS)
        try:
            yield
        except RuntimeError as error:  # what Python 3.11 makes of an alarm while a class is being made
            if isinstance(error.__cause__, TimeUp):
                raise error.__cause__ from None
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
