"""The one clock. A question has one time limit, which starts before its input is read and which all searches share."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from memfence.safe_points import may_end, uninterrupted

GRACE_SECONDS = 1.0
"""A search that used up its time may still say what it has found."""
AGAIN_SECONDS = 0.2
"""An alarm that comes while the core looks for Ctrl-C is lost; so there are more of them."""
SOON_SECONDS = 0.02
"""An alarm that comes in the middle of foreign code tries again."""


POLL_SECONDS = 0.2
"""How long an alarm or Ctrl-C may wait for an answer."""
T = TypeVar("T")


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
    @uninterrupted
    def enforced(self, grace: float = GRACE_SECONDS) -> Iterator[None]:
        """TimeUp inside as soon as the time, and the grace, are over; never in the middle of foreign code.

        Searches look at the clock themselves. Reading a text, replaying, rendering and saving a run of a million steps
        are plain Python in many places, so that an alarm ends them rather than a question in each loop. Signals reach
        the main thread only: elsewhere nothing is enforced.
        """
        if self.seconds is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        alarm = _Alarm(self.seconds, sys._getframe(2))
        alarm.set(max(0.001, self.seconds + grace - self.elapsed))
        try:
            yield
        except RuntimeError as error:  # what Python 3.11 makes of an alarm while a class is being made
            if isinstance(error.__cause__, TimeUp):
                raise error.__cause__ from None
            raise
        finally:
            alarm.unset()


class _Alarm:
    """The alarm of the process, for what `begin` calls; the one that was set before goes on afterwards."""

    def __init__(self, limit: float, begin: FrameType) -> None:
        self._limit = limit
        self._begin: FrameType | None = begin
        self._since = time.monotonic()
        self._is_set = True

    @uninterrupted
    def set(self, seconds: float) -> None:
        self._handler = signal.signal(signal.SIGALRM, self._ring)
        self._timer = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)

    def _ring(self, _: int, frame: FrameType | None) -> None:
        if not self._is_set:  # it rang while it was taken back
            return
        if may_end(frame, self._begin):
            # Who hears it may still say what was found so far; the next one ends that, too.
            signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS, AGAIN_SECONDS)
            raise TimeUp(self._limit)
        signal.setitimer(signal.ITIMER_REAL, SOON_SECONDS, AGAIN_SECONDS)

    @uninterrupted
    def unset(self) -> None:
        self._is_set = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._handler)
        left, again = self._timer
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, left - (time.monotonic() - self._since)), again)
        self._begin = None


def interruptible(call: Callable[[], T]) -> T:
    """The result of a call into native code, during which nothing hears an alarm or Ctrl-C.

    It runs in another thread, which is left behind if one comes. The call has to give Python's lock back.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    ended = threading.Event()
    results: list[T] = []
    problems: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as problem:
            problems.append(problem)
        finally:
            ended.set()

    # Never join it: CPython 3.11 takes a thread for ended when a signal interrupts the join.
    threading.Thread(target=run).start()
    while not ended.wait(POLL_SECONDS):
        pass
    if problems:
        raise problems[0]
    return results[0]
